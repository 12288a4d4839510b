import { type Decoder, decode } from "sexp-parser";
import { type CodeNote, codeNote } from "./compiled-code.js";
import { type FileNotFound, fileNotFound } from "./file-not-found.js";

const { boolean, integer, list, map, nullable, string, tagged, tuple } = decode;

/** The files of one system that were to load. Those that were loaded before and are up to date are not among them. */
export interface LoadedSystem {
  /** Absent for a file that was loaded by its name. */
  readonly name: string | undefined;
  readonly loaded: number;
  readonly count: number;
  /** False if the system is loaded only in part. */
  readonly isComplete: boolean;
  /** The first files that are not loaded. */
  readonly left: readonly string[];
}

/** A program that installs systems. */
export interface InstallingProgram {
  readonly name: string;
  /** Why it could not look for the system. */
  readonly failure: string | undefined;
}

/** Why a system was not loaded, or not completely. */
export type LoadProblem =
  | {
      readonly kind: "missing";
      readonly name: string;
      /** The system or component that needs it; absent if it was asked for. */
      readonly requiredBy: string | undefined;
      /** The version that is needed, if there is another one. */
      readonly version: string | undefined;
      /** Where ASDF looked. `**` stands for all folders below. */
      readonly folders: readonly string[];
      /** The programs, such as Quicklisp, that do not provide it either. */
      readonly programs: readonly InstallingProgram[];
      readonly similar: readonly string[];
      /** Files of its name that ASDF does not look at. */
      readonly files: readonly string[];
    }
  /** Components that need each other, as a circle. */
  | { readonly kind: "circular"; readonly names: readonly string[] }
  /** The file defines none of its own name, and not only one. */
  | { readonly kind: "no-system"; readonly file: string; readonly names: readonly string[] };

/** A file that is compiled or loaded, or was compiled with warnings that keep ASDF from loading it (`warned`), or a system that Quicklisp installs. */
export type LoadAction =
  | { readonly kind: "compile" | "warned" | "load"; readonly file: string }
  | { readonly kind: "install"; readonly system: string };

/** What loading a system or a file has done, at its end or so far. */
export interface Loading {
  readonly status: "loading";
  /** The system, as it was asked for or as the file names it; absent for a file with source code. */
  readonly system: string | undefined;
  /** The file, if one was asked for. */
  readonly file: string | undefined;
  readonly systems: readonly LoadedSystem[];
  /** Number of compiled files. */
  readonly compiled: number;
  /** In the order in which the compiler gave them. */
  readonly notes: readonly CodeNote[];
  /** Number of further notes. */
  readonly leftOut: number;
  /** What is done now, or has failed. */
  readonly action: LoadAction | undefined;
  /** The test systems that are loaded, if they were asked for. */
  readonly tests: readonly string[];
  readonly problem: LoadProblem | undefined;
}

/** What loading a system or a file has done, or that there is no such file. */
export type LoadResult = Loading | FileNotFound;

/** A result, with the text of a file that cannot be read to its end. */
export interface LoadReply {
  readonly result: LoadResult;
  readonly unreadable?: { readonly file: string; readonly text: string } | undefined;
}

const program: Decoder<InstallingProgram> = map(tuple(string, nullable(string)), ([name, failure]) => ({
  name,
  failure,
}));

const system: Decoder<LoadedSystem> = map(
  tuple(nullable(string), integer, integer, boolean, list(string)),
  ([name, loaded, count, isComplete, left]) => ({ name, loaded, count, isComplete, left }),
);

const problem: Decoder<LoadProblem> = tagged({
  missing: map(
    tuple(string, nullable(string), nullable(string), list(string), list(program), list(string), list(string)),
    ([name, requiredBy, version, folders, programs, similar, files]): LoadProblem => ({
      kind: "missing",
      name,
      requiredBy,
      version,
      folders,
      programs,
      similar,
      files,
    }),
  ),
  circular: map(tuple(list(string)), ([names]): LoadProblem => ({ kind: "circular", names })),
  "no-system": map(tuple(string, list(string)), ([file, names]): LoadProblem => ({ kind: "no-system", file, names })),
});

const action: Decoder<LoadAction> = tagged({
  compile: map(tuple(string), ([file]): LoadAction => ({ kind: "compile", file })),
  warned: map(tuple(string), ([file]): LoadAction => ({ kind: "warned", file })),
  load: map(tuple(string), ([file]): LoadAction => ({ kind: "load", file })),
  install: map(tuple(string), ([name]): LoadAction => ({ kind: "install", system: name })),
});
const unreadableFile = map(tuple(string, string), ([file, text]) => ({ file, text }));

const loading: Decoder<LoadReply> = map(
  tuple(
    nullable(string),
    nullable(string),
    list(system),
    integer,
    list(codeNote),
    integer,
    nullable(unreadableFile),
    nullable(action),
    list(string),
    nullable(problem),
  ),
  ([name, file, systems, compiled, notes, leftOut, unreadable, current, tests, reason]) => ({
    result: {
      status: "loading",
      system: name,
      file,
      systems,
      compiled,
      notes,
      leftOut,
      action: current,
      tests,
      problem: reason,
    },
    unreadable,
  }),
);

/** Decodes the value of `load-code` (lisp/code/load-code.lisp). */
export const loadReply: Decoder<LoadReply> = tagged({
  loading,
  "file-not-found": map(fileNotFound["file-not-found"], (result): LoadReply => ({ result })),
});

/** Decodes the reply of `load-progress` (lisp/code/loading.lisp); `undefined` if the image does not know the loading. */
export const loadProgressReply: Decoder<LoadReply | undefined> = tagged({
  loading,
  unknown: () => undefined,
});
