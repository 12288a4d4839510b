import type { BadPattern } from "./found-names.js";

/** A line of source code that contains a match. */
export interface FoundLine {
  /** Line and column of the first match in the line, from 1. */
  readonly line: number;
  readonly column: number;
  /** The line, at most 300 characters. */
  readonly text: string;
  /** The first line of the top-level form that the match is in, unless it is between forms. */
  readonly definition: { readonly line: number; readonly text: string } | undefined;
}

/** The matching lines of a file. */
export interface FileMatches {
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  readonly file: string;
  readonly lines: readonly FoundLine[];
}

/** The matches of a search in source files: those below the image's directory come first, then by name. */
export interface FoundInSources {
  readonly status: "found";
  readonly matches: readonly FileMatches[];
  /** Number of all matching lines, and of the files that they are in. */
  readonly count: number;
  readonly matchingFiles: number;
  /** Number of files that the search looked at, and of those among them that could not be read. */
  readonly files: number;
  readonly unreadFiles: number;
  /** The folders of these files, with the number of files in each. */
  readonly folders: readonly { readonly folder: string; readonly count: number }[];
  /** The limit at which the search ended, so that other files may match, too: 20 s, 5000 files, or 200 million characters. */
  readonly cut: "time" | "files" | "characters" | undefined;
  /** Number of folders that could not be read. */
  readonly unreadableFolders: number;
}

/** The matching lines, or the reason why nothing was searched. */
export type SourceMatches =
  | FoundInSources
  | BadPattern
  /** ASDF knows no such system; `similar` are systems that it knows. */
  | { readonly status: "system-not-found"; readonly system: string; readonly similar: readonly string[] }
  | { readonly status: "folder-not-found"; readonly folder: string };
