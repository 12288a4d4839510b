import { type Decoder, decode, keyword, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import { heapGrowthData, heapInstancesData, heapPathData, heapSummaryData } from "./heap-data.js";
import { noObject } from "./inspect-object.js";

/** Milliseconds that the image has to collect garbage and to walk through its heap, or to search it. */
const HEAP_TIME = 120_000;

const { integer, list, map, nullable, string, tagged, tuple } = decode;

/** Which objects count, and how many rows to return. */
export interface HeapCall {
  readonly type: string | undefined;
  readonly collect: boolean;
  readonly limit: number;
}

function keysOf({ type, collect, limit }: HeapCall): Sexp[] {
  return [
    ...(type === undefined ? [] : [keyword("type"), type]),
    ...(collect ? [keyword("collect"), T] : []),
    keyword("limit"),
    limit,
  ];
}

/** `(:no-type TEXT REASON)` */
const noType: Decoder<SwankError> = map(tuple(string, string), ([text, reason]) => {
  const problem = reason === "" ? `There is no type ${text}.` : `Objects of type ${text} cannot be found: ${reason}`;
  return new SwankError("INVALID_ARGUMENT", problem, {
    remedy: "Give a class or another type, with its package, as in my-app:order.",
  });
});

/** Counts the heap by type (lisp/heap/summary.lisp). */
export const heapSummary = lispFunction({
  name: "heap-summary",
  module: "heap",
  encode: (call: HeapCall) => keysOf(call),
  decode: tagged({ summary: heapSummaryData }),
  refusals: { "no-type": () => noType },
  timeout: HEAP_TIME,
  label: () => "counting the heap",
});

/** Compares the heap with a summary (lisp/heap/summary.lisp). */
export const heapGrowth = lispFunction({
  name: "heap-growth",
  module: "heap",
  encode: (call: HeapCall & { readonly since: number | undefined }) => [
    ...(call.since === undefined ? [] : [keyword("since"), call.since]),
    ...keysOf(call),
  ],
  decode: tagged({ growth: heapGrowthData }),
  refusals: {
    "no-type": () => noType,
    "no-summary": () =>
      map(tuple(nullable(integer)), ([since]) => {
        const which = since === undefined ? "There is no summary" : `Summary ${since} is not known any more`;
        return new SwankError("INVALID_ARGUMENT", `${which}, so there is nothing to compare the heap with.`, {
          remedy: "Make a summary first, then let the program run.",
        });
      }),
  },
  timeout: HEAP_TIME,
  label: () => "comparing the heap",
});

/** Finds objects of a type (lisp/heap/instances.lisp). */
export const heapInstances = lispFunction({
  name: "heap-instances",
  module: "heap",
  encode: ({ type, ...call }: HeapCall & { readonly type: string }) => [type, ...keysOf({ ...call, type: undefined })],
  decode: tagged({ instances: heapInstancesData }),
  refusals: { "no-type": () => noType },
  timeout: HEAP_TIME,
  label: () => "finding instances",
});

/** Searches for what keeps an object alive (lisp/heap/path.lisp). */
export const heapPath = lispFunction({
  name: "heap-path",
  module: "heap",
  encode: (id: number) => [id],
  decode: tagged({ path: heapPathData }),
  refusals: {
    "no-object": () => noObject,
    "no-identity": () =>
      map(
        tuple(integer),
        ([id]) =>
          new SwankError("INVALID_ARGUMENT", `Object ${id} is a number or character, which nothing keeps alive.`, {
            remedy: "Give the id of another object.",
          }),
      ),
  },
  timeout: HEAP_TIME,
  label: () => "searching the heap",
});

/** Decodes the value of `run-code` (lisp/heap/summary.lisp). */
export const codeValues: Decoder<readonly string[]> = tagged({ values: list(string) });
