import { type Decoded, decode } from "sexp-parser";
import { check, type OptionsOf, question } from "../base/options.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import {
  CODE_TIME,
  type FileNotFound,
  fileNotFound,
  NAMED_KINDS,
  nameNotFound,
  type PackageNotFound,
  SHOWN_KINDS,
} from "./found.js";
import { systemNotFound, unreadable } from "./source.js";

const { boolean, integer, list, nullable, record, string, tagged } = decode;

/** Entries returned by default. */
const DEFAULT_LIMIT = 200;

const page = {
  ...question,
  /** Index of the first entry returned, from 0. Default: 0. */
  start: check.index,
  /** Most entries returned. Default: 200. */
  limit: check.index,
};

/** The part of an outline to return. */
export interface OutlineOptions extends OptionsOf<typeof page> {}

const form = record({
  line: integer,
  /** 0 for a top-level form, 1 for a definition inside one that is no definition itself, such as `eval-when`. */
  depth: integer,
  /** Its first line, at most 200 characters. */
  text: string,
});

/** A form of a file. */
export interface OutlinedForm extends Decoded<typeof form> {}

const fileOutline = record(
  {
    /** Relative to the image's directory if it is below that, otherwise absolute. */
    file: string,
    /** Number of lines. */
    lines: integer,
    /** The first comment before its first form. */
    about: nullable(string),
    /** False if what follows the listed forms cannot be read. */
    isWhole: boolean,
    /** True if the file has changed since it was loaded. */
    changed: boolean,
    /** Number of all forms. */
    count: integer,
    forms: list<OutlinedForm>(form),
  },
  { status: "found" },
);

/** The forms of a file, in their order. */
export interface FileOutline extends Decoded<typeof fileOutline> {}

/** The forms of a file, or the reason why there are none. `file-unreadable`: the file is too large, or the image may not read it. */
export type OutlinedFile = FileOutline | Decoded<typeof unreadable> | FileNotFound;

const outlineFileCall = lispFunction({
  name: "outline-file",
  module: "questions",
  encode: (file: string, { start = 0, limit = DEFAULT_LIMIT }: OutlineOptions) => [file, start, limit],
  decode: tagged({ file: fileOutline, ...fileNotFound, "file-unreadable": unreadable }),
  timeout: CODE_TIME,
  label: () => "outlining a file",
});

/** Asks for the forms of a file. */
export async function outlineFile(lisp: LispRunner, file: string, options: OutlineOptions): Promise<OutlinedFile> {
  return questionsTo(lisp, "outlineFile", options, page).run(outlineFileCall, check.text("file", file), options);
}

const packageOptions = {
  ...page,
  /** Returns lambda lists, too. Default: false. */
  arglists: check.flag,
};

/** What to return of a package. */
export interface PackageOutlineOptions extends OptionsOf<typeof packageOptions> {}

const outlinedName = record({
  /** As code in the session's package writes it. */
  name: string,
  access: keywordOf(["external", "internal"]),
  kinds: list(keywordOf(NAMED_KINDS)),
  /** At most 200 characters. */
  arglist: nullable(string),
});

/** A name of a package, and what it names. */
export interface OutlinedName extends Decoded<typeof outlinedName> {}

const kindCount = record({ kind: keywordOf(NAMED_KINDS), count: integer, exported: integer });

const packageOutline = record(
  {
    name: string,
    nicknames: list(string),
    /** The first line of its documentation. */
    documentation: nullable(string),
    /** The file that defines it, if that is known. */
    file: nullable(string),
    uses: list(string),
    usedBy: list(string),
    /** Number of its own symbols that name something, and of those that it exports from other packages. */
    count: integer,
    /** The first kinds of these names. */
    kinds: list(kindCount),
    /** Exported names first. */
    names: list<OutlinedName>(outlinedName),
  },
  { status: "found" },
);

/** The names of a package. */
export interface PackageOutline extends Decoded<typeof packageOutline> {}

const outlinePackageCall = lispFunction({
  name: "outline-package",
  module: "questions",
  encode: (name: string, { arglists, start = 0, limit = DEFAULT_LIMIT }: PackageOutlineOptions) =>
    forms(name, arglists, start, limit),
  decode: tagged({ package: packageOutline, "package-not-found": nameNotFound["package-not-found"] }),
  timeout: CODE_TIME,
  label: () => "outlining a package",
});

/** Asks for the names of a package. */
export async function outlinePackage(
  lisp: LispRunner,
  name: string,
  options: PackageOutlineOptions,
): Promise<PackageOutline | PackageNotFound> {
  return questionsTo(lisp, "outlinePackage", options, packageOptions).run(
    outlinePackageCall,
    check.text("name", name),
    options,
  );
}

const systemOptions = {
  ...page,
  /** Returns what the system adds to others, too. Default: false. */
  foreign: check.flag,
};

/** What to return of a system. */
export interface SystemOutlineOptions extends OptionsOf<typeof systemOptions> {}

const systemFile = record({
  file: string,
  /** Number of lines; `undefined` if it cannot be read. */
  lines: nullable(integer),
  about: nullable(string),
  /** The operators of its top-level forms, in lower case without packages, the most frequent first. */
  operators: list(record({ operator: string, count: integer })),
});

/** A source file of a system. */
export interface SystemFile extends Decoded<typeof systemFile> {}

/**
 * What a definition changes that belongs to another system.
 *
 * - `method`: a method of another's generic function, or for another's class.
 * - `definition`: a definition of a name in another's package.
 * - `redefinition`: the same, and a file of that system defines it, too.
 */
export const ADDITIONS = ["method", "definition", "redefinition"] as const;

const addition = record({
  what: keywordOf(ADDITIONS),
  /** The other system, `Lisp`, or `undefined` if it is not known. */
  owner: nullable(string),
  kind: keywordOf(SHOWN_KINDS),
  /** As code in the session's package writes it; `(method area (circle))`. */
  name: string,
  file: nullable(string),
  line: nullable(integer),
});

/** A definition of one system that changes what belongs to another. */
export interface Addition extends Decoded<typeof addition> {}

const systemOutline = record(
  {
    name: string,
    version: nullable(string),
    /** The first line. */
    description: nullable(string),
    isLoaded: boolean,
    /** The file that defines it. */
    definedIn: nullable(string),
    dependsOn: list(string),
    /** Other systems that the same file defines. */
    beside: list(string),
    /** Number of its source files. */
    count: integer,
    /** In the order in which they are loaded. */
    files: list<SystemFile>(systemFile),
    /** Number of what it adds to others; `undefined` unless asked for. */
    added: nullable(integer),
    additions: list<Addition>(addition),
  },
  { status: "found" },
);

/** The files of a system that ASDF knows. */
export interface SystemOutline extends Decoded<typeof systemOutline> {}

/** The files of a system, or that ASDF knows no such system, but those in `similar`. */
export type OutlinedSystem = SystemOutline | Decoded<typeof systemNotFound>;

const outlineSystemCall = lispFunction({
  name: "outline-system",
  module: "questions",
  encode: (name: string, { foreign, start = 0, limit = DEFAULT_LIMIT }: SystemOutlineOptions) =>
    forms(name, foreign, start, limit),
  decode: tagged({ system: systemOutline, "system-not-found": systemNotFound }),
  timeout: CODE_TIME,
  label: () => "outlining a system",
});

/** Asks for the files of a system, and for what it adds to other systems. */
export async function outlineSystem(
  lisp: LispRunner,
  name: string,
  options: SystemOutlineOptions,
): Promise<OutlinedSystem> {
  return questionsTo(lisp, "outlineSystem", options, systemOptions).run(
    outlineSystemCall,
    check.text("name", name),
    options,
  );
}
