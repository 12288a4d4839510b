import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

/**
 * Whether garbage was collected first.
 *
 * - `yes`: all of it, so that only what is alive counts.
 * - `no`: that was not wanted, so garbage counts, too.
 * - `unsafe`: more than half of the heap is in use; a full collection could end SBCL, so there was none.
 */
export const HEAP_COLLECTIONS = ["yes", "no", "unsafe"] as const;

/**
 * How a search for a path has ended.
 *
 * - `found`: with a path.
 * - `none`: no variable or definition leads to the object.
 * - `time`, `size`: at the limit of 15 seconds, or of the free memory.
 */
export const PATH_ENDS = ["found", "none", "time", "size"] as const;

/** What looking at the heap has cost. */
export interface HeapLook {
  readonly collected: (typeof HEAP_COLLECTIONS)[number];
  /** Microseconds of the full collection, which pauses all threads. */
  readonly gc: number;
  /** Microseconds of walks through the heap. Threads that needed a garbage collection meanwhile waited for their end. */
  readonly walk: number;
  /** False if a walk was given up after 5 seconds, so that objects are missing. */
  readonly complete: boolean;
  /** Bytes of the heap in use, garbage included. */
  readonly used: number;
  /** Bytes that the heap can have. */
  readonly size: number;
}

/** Objects of a type. */
export interface HeapType {
  /** As code names it: `my-app:order`, `cons`, `(simple-array double-float (*))`; `other` for what no type names. */
  readonly name: string;
  readonly count: number;
  /** With the vectors that hold the slots of instances. */
  readonly bytes: number;
}

/** What is in the heap by type. */
export interface HeapSummary extends HeapLook {
  /** Number of the summary, to compare later ones with; absent if it is not complete. The image keeps the last 5 of each client. */
  readonly id: number | undefined;
  /** Those with the most bytes first. */
  readonly types: readonly HeapType[];
  /** Number of all types. */
  readonly typeCount: number;
  /** Number of all objects. */
  readonly objects: number;
  /** Their bytes. */
  readonly bytes: number;
}

/** How objects of a type have become more or fewer. */
export interface HeapTypeGrowth extends HeapType {
  readonly countBefore: number;
  readonly bytesBefore: number;
}

/** How the heap differs from a summary. `count`, `objects` and `bytes` are differences. */
export interface HeapGrowth extends HeapLook {
  /** Number of the summary. */
  readonly since: number;
  /** Microseconds since that. */
  readonly ago: number;
  readonly collectedBefore: (typeof HEAP_COLLECTIONS)[number];
  /** Those that differ most in bytes; the greatest growth first. */
  readonly types: readonly HeapTypeGrowth[];
  /** Number of all types that differ. */
  readonly typeCount: number;
  readonly objects: number;
  readonly bytes: number;
}

/** An object in the heap. */
export interface HeapInstance {
  /** Its id, as for `inspectObject`. It does not keep the object alive. */
  readonly id: number;
  readonly bytes: number;
  /** As Lisp prints it on one line, within limits. */
  readonly text: string;
}

/** Objects of a type. */
export interface HeapInstances extends HeapLook {
  readonly type: string;
  /** Number of all objects of the type. */
  readonly count: number;
  readonly bytes: number;
  /** The types among them with the most bytes. */
  readonly types: readonly HeapType[];
  /** Distance between two of `instances`: they are spread evenly over the heap. */
  readonly every: number;
  readonly instances: readonly HeapInstance[];
}

/** A step from a root to an object. */
export interface PathStep {
  /** What leads to it: `variable my-app:*cache*`, `value of "k"`, the name of a slot. */
  readonly name: string;
  /** The id of the object that it leads to. */
  readonly id: number;
  /** The Lisp expression that returns that object. */
  readonly expression: string;
  /** The object as Lisp prints it on one line, within limits. */
  readonly text: string;
}

/** What keeps an object alive. */
export interface HeapPath {
  readonly id: number;
  /** The object as Lisp prints it. */
  readonly text: string;
  readonly end: (typeof PATH_ENDS)[number];
  /** True if only what the library keeps for clients leads to it: their history variables, and objects that they inspect. */
  readonly own: boolean;
  /** From a variable or definition to the object, the shortest way: at most 24 steps; empty unless `found`. */
  readonly steps: readonly PathStep[];
  /** Number of steps that are left out, after the 12th. */
  readonly left: number;
  /** Number of objects that the search has seen. */
  readonly objects: number;
  /** Microseconds of the search, which stops no thread. */
  readonly time: number;
  /** Bytes allocated meanwhile, by all threads. */
  readonly bytes: number;
}

const { boolean, integer, list, map, nullable, optional, plist, string, tuple } = decode;

const look = {
  collected: keywordOf(HEAP_COLLECTIONS),
  gc: integer,
  walk: integer,
  complete: boolean,
  used: integer,
  size: integer,
};

const heapType: Decoder<HeapType> = map(tuple(string, integer, integer), ([name, count, bytes]) => ({
  name,
  count,
  bytes,
}));

const heapTypeGrowth: Decoder<HeapTypeGrowth> = map(
  tuple(string, integer, integer, integer, integer),
  ([name, count, bytes, countBefore, bytesBefore]) => ({ name, count, bytes, countBefore, bytesBefore }),
);

/** Decodes the plist of `heap-summary` (lisp/heap/summary.lisp). */
export const heapSummaryData: Decoder<HeapSummary> = plist({
  ...look,
  id: nullable(integer),
  types: list(heapType),
  typeCount: integer,
  objects: integer,
  bytes: integer,
});

/** Decodes the plist of `heap-growth` (lisp/heap/summary.lisp). */
export const heapGrowthData: Decoder<HeapGrowth> = plist({
  ...look,
  since: integer,
  ago: integer,
  collectedBefore: keywordOf(HEAP_COLLECTIONS),
  types: list(heapTypeGrowth),
  typeCount: integer,
  objects: integer,
  bytes: integer,
});

/** Decodes the plist of `heap-instances` (lisp/heap/instances.lisp). */
export const heapInstancesData: Decoder<HeapInstances> = plist({
  ...look,
  type: string,
  count: integer,
  bytes: integer,
  types: list(heapType),
  every: integer,
  instances: list(map(tuple(integer, integer, string), ([id, bytes, text]) => ({ id, bytes, text }))),
});

const pathStep: Decoder<PathStep> = map(tuple(string, integer, string, string), ([name, id, expression, text]) => ({
  name,
  id,
  expression,
  text,
}));

const pathFields = plist({
  id: integer,
  text: string,
  end: keywordOf(PATH_ENDS),
  own: optional(boolean),
  steps: optional(list(pathStep)),
  left: optional(integer),
  objects: integer,
  time: integer,
  bytes: integer,
});

/** Decodes the plist of `heap-path` (lisp/heap/path.lisp). */
export const heapPathData: Decoder<HeapPath> = map(pathFields, ({ steps = [], left = 0, own = false, ...rest }) => ({
  ...rest,
  own,
  steps,
  left,
}));
