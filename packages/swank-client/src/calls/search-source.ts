import { type Decoder, decode, NIL, T } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { badPattern } from "./bad-pattern.js";
import { CODE_TIME } from "./code-time.js";
import type { FileMatches, FoundInSources, FoundLine, SourceMatches } from "./found-lines.js";

const { integer, list, map, nullable, string, tagged, tuple } = decode;

/** What to search for, and where. */
export interface WantedLines {
  readonly pattern: string;
  readonly regexp: boolean;
  readonly system: string | undefined;
  readonly folder: string | undefined;
  readonly start: number;
  readonly limit: number;
}

const definition = map(tuple(integer, string), ([line, text]) => ({ line, text }));

const line: Decoder<FoundLine> = map(
  tuple(integer, integer, string, nullable(definition)),
  ([number, column, text, within]) => ({ line: number, column, text, definition: within }),
);

const fileMatches: Decoder<FileMatches> = map(tuple(string, list(line)), ([file, lines]) => ({ file, lines }));

const cut = keywordOf(["time", "files", "characters"] as const);

const folder = map(tuple(string, integer), ([name, count]) => ({ folder: name, count }));

const found: Decoder<FoundInSources> = map(
  tuple(list(fileMatches), integer, integer, integer, integer, list(folder), nullable(cut), integer),
  ([matches, count, matchingFiles, files, unreadFiles, folders, cutBy, unreadableFolders]) => ({
    status: "found",
    matches,
    count,
    matchingFiles,
    files,
    unreadFiles,
    folders,
    cut: cutBy,
    unreadableFolders,
  }),
);

/** The lines of source files that contain or match a pattern (lisp/code/search-source.lisp). */
export const searchSource = lispFunction({
  name: "search-source",
  module: "code",
  encode: ({ pattern, regexp, system, folder: folderName, start, limit }: WantedLines) => [
    pattern,
    regexp ? T : NIL,
    system ?? NIL,
    folderName ?? NIL,
    start,
    limit,
  ],
  decode: tagged({
    found,
    ...badPattern,
    "system-not-found": map(
      tuple(string, list(string)),
      ([system, similar]): SourceMatches => ({ status: "system-not-found", system, similar }),
    ),
    "folder-not-found": map(tuple(string), ([name]): SourceMatches => ({ status: "folder-not-found", folder: name })),
  }),
  timeout: CODE_TIME,
  label: () => "searching source files",
});
