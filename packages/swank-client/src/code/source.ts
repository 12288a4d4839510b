import { type Decoded, decode } from "sexp-parser";
import { check, type OptionsOf, question } from "../base/options.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import {
  type BadPattern,
  badPattern,
  CODE_TIME,
  type DefinitionText,
  definitionText,
  type FileNotFound,
  fileNotFound,
  inPackage,
  LIMIT,
  type NameNotFound,
  nameNotFound,
} from "./found.js";

const { boolean, integer, list, map, nullable, record, string, tagged, tuple } = decode;

const sourceOptions = {
  ...inPackage,
  /** True to show, of more than 12 methods, only one of each family: methods whose classes have a superclass in common. Default: false. */
  families: check.flag,
};

/** Options of `showSource`. */
export interface SourceOptions extends OptionsOf<typeof sourceOptions> {}

const methodFamily = record({
  /** The name of the method that is shown. */
  shown: string,
  /** Number of the others, and the names of the first of them. */
  count: integer,
  names: list(string),
});

/** Methods of which one is shown. */
export interface MethodFamily extends Decoded<typeof methodFamily> {}

const definitions = {
  /** As code in the package writes it. */
  name: string,
  definitions: list<DefinitionText>(definitionText),
  /** Number of definitions that are not listed. */
  leftOut: integer,
  /** The families of which only one method is among the definitions. */
  families: list<MethodFamily>(methodFamily),
};

const foundDefinitions = tagged({
  found: record(definitions, { status: "found" }),
  "no-such-method": record(definitions, { status: "no-such-method" }),
});

/** All definitions of a name. `no-such-method`: no method has these specializers; all methods are listed. */
export type FoundDefinitions = Decoded<typeof foundDefinitions>;

/** The definitions of a name, or the reason why there are none. */
export type ShownSource = FoundDefinitions | NameNotFound;

/** The definitions of a name in a package, by default the session's package, with their text (lisp/questions/show.lisp). */
const showSourceCall = lispFunction({
  name: "show-source",
  module: "questions",
  encode: (name: string, { package: packageName, families }: SourceOptions) => forms(name, packageName, families),
  decode: tagged({ ...nameNotFound }, foundDefinitions),
  timeout: CODE_TIME,
  label: () => "showing the source of a name",
});

/** Asks for the text of all definitions of a name. */
export async function showSource(lisp: LispRunner, name: string, options: SourceOptions): Promise<ShownSource> {
  return questionsTo(lisp, "showSource", options, sourceOptions).run(showSourceCall, check.text("name", name), options);
}

const fileOptions = {
  ...question,
  /** From 1. Default: 1. */
  line: check.count(1),
  /** Number of lines shown before and after that line. Default: 20. */
  context: check.index,
};

/** The part of a file to show. */
export interface FileOptions extends OptionsOf<typeof fileOptions> {}

/** The first line of a top-level form. */
const firstLine = record({ line: integer, text: string });

const foundLines = record(
  {
    /** Relative to the image's directory if it is below that, otherwise absolute. */
    file: string,
    /** Number of lines in the file. */
    count: integer,
    /** Number of the first line in `lines`, from 1. */
    first: integer,
    lines: list(string),
    /** The first line of the top-level form that the line belongs to. */
    definition: nullable(firstLine),
    /** True if the file has changed since it was loaded. */
    changed: boolean,
  },
  { status: "found" },
);

/** Lines of a source file. */
export interface FoundLines extends Decoded<typeof foundLines> {}

export const unreadable = record({ file: string }, { status: "file-unreadable" });

/** Lines of a source file, or the reason why there are none. `file-unreadable`: the file is too large, or the image may not read it. */
export type ShownFile = FoundLines | Decoded<typeof unreadable> | FileNotFound;

/** Lines of a file around one line (lisp/questions/show.lisp). */
const showFileCall = lispFunction({
  name: "show-file",
  module: "questions",
  encode: (file: string, { line = 1, context = 20 }: FileOptions) => [file, line, context],
  decode: tagged({ file: foundLines, ...fileNotFound, "file-unreadable": unreadable }),
  timeout: CODE_TIME,
  label: () => "showing a file",
});

/** Asks for lines of a file. */
export async function showFile(lisp: LispRunner, file: string, options: FileOptions): Promise<ShownFile> {
  return questionsTo(lisp, "showFile", options, fileOptions).run(showFileCall, check.text("file", file), options);
}

const searchOptions = {
  ...question,
  /** True if the pattern is a regular expression. Default: a text. */
  regexp: check.flag,
  /** Name of a system that ASDF knows. Default: the files of which code is loaded, except Lisp's and Swank's. */
  system: check.text,
  /** Instead of a system: a folder, whose files with Lisp code are searched, loaded or not. */
  folder: check.text,
  /** True to search code only, not strings and comments. Default: false. */
  code: check.flag,
  /** A folder whose files are left out. */
  exclude: check.text,
  /** Index of the first match, from 0. Default: 0. */
  start: check.index,
  /** Most matches returned. Default: 50. */
  limit: check.index,
};

/** Where to search, and which of the matches to return. */
export interface SearchOptions extends OptionsOf<typeof searchOptions> {}

const foundLine = record({
  /** Line and column of the first match in the line, from 1, in characters. */
  line: integer,
  column: integer,
  /** The line, at most 300 characters. */
  text: string,
  /** The first line of the top-level form that the match is in, unless it is between forms. */
  definition: nullable(firstLine),
});

/** A line of source code that contains a match. */
export interface FoundLine extends Decoded<typeof foundLine> {}

const fileMatches = record({
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  file: string,
  lines: list<FoundLine>(foundLine),
});

/** The matching lines of a file. */
export interface FileMatches extends Decoded<typeof fileMatches> {}

const matches = record(
  {
    matches: list<FileMatches>(fileMatches),
    /** Number of all matching lines, and of the files that they are in. */
    count: integer,
    matchingFiles: integer,
    /** Number of files that the search looked at, and of those among them that could not be read. */
    files: integer,
    unreadFiles: integer,
    /** The folders of these files, with the number of files in each. */
    folders: list(record({ folder: string, count: integer })),
    /** The limit at which the search ended, so that other files may match, too: 20 s, 5000 files, or 200 million characters. */
    cut: nullable(keywordOf(["time", "files", "characters"])),
    /** Number of folders that could not be read. */
    unreadableFolders: integer,
    links: tuple(integer, list(string)),
  },
  { status: "found" },
);

/** The matches of a search in source files: those below the image's directory come first, then by name. */
export interface FoundInSources extends Omit<Decoded<typeof matches>, "links"> {
  /** Symbolic links in the folder to files and folders outside of it, which were not followed. */
  readonly linksOutside: number;
  /** The first folders to which these lead, or in which the files are to which they lead, at most two. */
  readonly linkTargets: readonly string[];
}

export const systemNotFound = record({ system: string, similar: list(string) }, { status: "system-not-found" });

const folderNotFound = record({ folder: string }, { status: "folder-not-found" });

/** The matching lines, or the reason why nothing was searched. `system-not-found`: ASDF knows no such system, but those in `similar`. */
export type SourceMatches =
  | FoundInSources
  | BadPattern
  | Decoded<typeof systemNotFound>
  | Decoded<typeof folderNotFound>;

/** The lines of source files that contain or match a pattern (lisp/questions/show.lisp). */
const searchSourceCall = lispFunction({
  name: "search-source",
  module: "questions",
  encode: (pattern: string, { regexp, system, folder, start = 0, limit = LIMIT, code, exclude }: SearchOptions) =>
    forms(pattern, regexp, system, folder, start, limit, code, exclude),
  decode: tagged({
    found: map(
      matches,
      ({ links: [linksOutside, linkTargets], ...found }): FoundInSources => ({
        ...found,
        linksOutside,
        linkTargets,
      }),
    ),
    ...badPattern,
    "system-not-found": systemNotFound,
    "folder-not-found": folderNotFound,
  }),
  timeout: CODE_TIME,
  label: () => "searching source files",
});

/** Searches the lines of source files. */
export async function searchSource(lisp: LispRunner, pattern: string, options: SearchOptions): Promise<SourceMatches> {
  return questionsTo(lisp, "searchSource", options, searchOptions).run(
    searchSourceCall,
    check.text("pattern", pattern),
    options,
  );
}
