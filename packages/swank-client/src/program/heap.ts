import { type Decoded, decode, print, read } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf, type QuestionOptions, question } from "../base/options.js";
import type { Task } from "../evaluation/stop.js";
import { type PreparedCode, type StartTask, startPrepared, taskOptions } from "../evaluation/work.js";
import { keywordForms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { checkBalanced } from "../source-text/balance.js";
import { noObject } from "./objects.js";

const { boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple, withDefault } = decode;

/** Most types or instances in one answer, and how many by default. */
const MOST_ROWS = 1000;

const USUAL_ROWS = 20;

const heapOptions = {
  ...question,
  /**
   * Collect all garbage first, so that only what is alive counts. That pauses all threads, and there is no limit for it. It is left out if
   * more than half of the heap is in use. Default: true.
   */
  collect: check.flag,
  /** Number of types or instances to return, at most 1,000. Default: 20. */
  limit: check.count(1, MOST_ROWS),
};

/** How to look at the heap. */
export interface HeapOptions extends OptionsOf<typeof heapOptions> {}

const instancesOptions = {
  ...heapOptions,
  /** Only objects of at least so many bytes, the largest first. Default: objects of all sizes, spread evenly over the heap. */
  least: check.index,
};

/** Which objects of a type to find. */
export interface HeapInstancesOptions extends OptionsOf<typeof instancesOptions> {}

const summaryOptions = {
  ...heapOptions,
  /** A Lisp type, e.g. the name of a class: only objects of this type count. Default: all objects. */
  type: check.text,
};

/** What to count in the heap. */
export interface HeapSummaryOptions extends OptionsOf<typeof summaryOptions> {}

const growthOptions = {
  ...summaryOptions,
  /** The id of the summary to compare with. Default: the latest one of this client. */
  since: check.id,
};

/** What to compare in the heap. */
export interface HeapGrowthOptions extends OptionsOf<typeof growthOptions> {}

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

const look = {
  collected: keywordOf(HEAP_COLLECTIONS),
  /** Microseconds of the full collection, which pauses all threads. */
  gc: integer,
  /** Microseconds of walks through the heap. Threads that needed a garbage collection meanwhile waited for their end. */
  walk: integer,
  /** False if a walk was given up after 5 seconds, so that objects are missing. */
  complete: boolean,
  /** Bytes of the heap in use, garbage included. */
  used: integer,
  /** Bytes that the heap can have. */
  size: integer,
};

const looked = plist(look);

/** What looking at the heap has cost. */
export interface HeapLook extends Decoded<typeof looked> {}

const typeFields = {
  /** As code names it: `my-app:order`, `cons`, `(simple-array double-float (*))`; `other` for what no type names. */
  name: string,
  count: integer,
  /** With the vectors that hold the slots of instances. */
  bytes: integer,
};

const heapType = record(typeFields);

/** Objects of a type. */
export interface HeapType extends Decoded<typeof heapType> {}

/** Decodes the plist of `heap-summary` (lisp/observe/heap.lisp). */
export const heapSummaryData = plist({
  ...look,
  /** Number of the summary, to compare later ones with; absent if it is not complete. The image keeps the last 50 of each client. */
  id: nullable(integer),
  /** Those with the most bytes first. */
  types: list<HeapType>(heapType),
  /** Number of all types. */
  typeCount: integer,
  /** Number of all objects. */
  objects: integer,
  /** Their bytes. */
  bytes: integer,
});

/** What is in the heap by type. */
export interface HeapSummary extends Decoded<typeof heapSummaryData> {}

const heapTypeGrowth = record({ ...typeFields, countBefore: integer, bytesBefore: integer });

/** How objects of a type have become more or fewer. */
export interface HeapTypeGrowth extends Decoded<typeof heapTypeGrowth> {}

/** Decodes the plist of `heap-growth` (lisp/observe/heap.lisp). */
export const heapGrowthData = plist({
  ...look,
  /** Number of the summary. */
  since: integer,
  /** Microseconds since that. */
  ago: integer,
  collectedBefore: keywordOf(HEAP_COLLECTIONS),
  /** Those that differ most in bytes; the greatest growth first. */
  types: list<HeapTypeGrowth>(heapTypeGrowth),
  /** Number of all types that differ. */
  typeCount: integer,
  /** By how many objects the heap has grown; negative if it has shrunk. */
  objects: integer,
  /** By how many bytes. */
  bytes: integer,
});

/** How the heap differs from a summary. `count`, `objects` and `bytes` are differences. */
export interface HeapGrowth extends Decoded<typeof heapGrowthData> {}

const heapInstance = record({
  /** Its id, as for `inspectObject`. It does not keep the object alive. */
  id: integer,
  bytes: integer,
  /** As Lisp prints it on one line, within limits. */
  text: string,
});

/** An object in the heap. */
export interface HeapInstance extends Decoded<typeof heapInstance> {}

/** Decodes the plist of `heap-instances` (lisp/observe/heap.lisp). */
export const heapInstancesData = plist({
  ...look,
  /** The type, as Lisp prints it. */
  type: string,
  /** Number of all objects of the type. */
  count: integer,
  /** Bytes of all objects of the type. */
  bytes: integer,
  /** The types among them with the most bytes. */
  types: list<HeapType>(heapType),
  /** Number of the objects that are as large as `least`, if that was given. */
  large: optional(integer),
  /** Distance between two of `instances`, which are spread evenly over the heap; 1 if `least` was given. */
  every: integer,
  instances: list<HeapInstance>(heapInstance),
});

/** Objects of a type. */
export interface HeapInstances extends Decoded<typeof heapInstancesData> {}

const pathStep = record({
  /** What leads to it: `variable my-app:*cache*`, `value of "k"`, the name of a slot. */
  name: string,
  /** The id of the object that it leads to. */
  id: integer,
  /** The Lisp expression that returns that object. */
  expression: string,
  /** The object as Lisp prints it on one line, within limits. */
  text: string,
});

/** A step from a root to an object. */
export interface PathStep extends Decoded<typeof pathStep> {}

const NO_STEPS: readonly PathStep[] = [];

/** Decodes the plist of `heap-path` (lisp/observe/heap-path.lisp). */
export const heapPathData = plist({
  /** The object's id, as for `inspectObject`. */
  id: integer,
  /** The object as Lisp prints it. */
  text: string,
  end: keywordOf(PATH_ENDS),
  /** True if only what the library keeps for clients leads to it: their history variables, and objects that they inspect. */
  own: withDefault(boolean, false),
  /** From a variable or definition to the object, the shortest way: at most 24 steps; empty unless `found`. */
  steps: withDefault(list<PathStep>(pathStep), NO_STEPS),
  /** Number of steps that are left out, after the 12th. */
  left: withDefault(integer, 0),
  /** Number of objects that the search has seen. */
  objects: integer,
  /** Microseconds of the search, which stops no thread. */
  time: integer,
  /** Bytes allocated meanwhile, by all threads. */
  bytes: integer,
});

/** What keeps an object alive. */
export interface HeapPath extends Decoded<typeof heapPathData> {}

/** Milliseconds that the image has to collect garbage and to walk through its heap, or to search it. */
const HEAP_TIME = 120_000;

function keysOf({ type, collect = true, limit = USUAL_ROWS }: HeapSummaryOptions) {
  return keywordForms({ type, collect, limit });
}

/** `(:no-type TEXT REASON)` */
const noType = map(tuple(string, string), ([text, reason]) => {
  const problem = reason === "" ? `There is no type ${text}.` : `Objects of type ${text} cannot be found: ${reason}`;
  return new SwankError("INVALID_ARGUMENT", problem, {
    remedy: "Give a class or another type, with its package, as in my-app:order.",
  });
});

/** Counts the heap by type (lisp/observe/heap.lisp). */
const heapSummary = lispFunction({
  name: "heap-summary",
  module: "observe",
  encode: keysOf,
  decode: tagged({ summary: heapSummaryData }),
  refusals: { "no-type": () => noType },
  timeout: HEAP_TIME,
  label: () => "counting the heap",
});

/** Compares the heap with a summary (lisp/observe/heap.lisp). */
const heapGrowth = lispFunction({
  name: "heap-growth",
  module: "observe",
  encode: (options: HeapGrowthOptions) => [...keywordForms({ since: options.since }), ...keysOf(options)],
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

/** Finds objects of a type (lisp/observe/heap.lisp). */
const heapInstances = lispFunction({
  name: "heap-instances",
  module: "observe",
  encode: (type: string, { least, ...options }: HeapInstancesOptions) => [
    type,
    ...keysOf({ ...options, type: undefined }),
    ...keywordForms({ least }),
  ],
  decode: tagged({ instances: heapInstancesData }),
  refusals: { "no-type": () => noType },
  timeout: HEAP_TIME,
  label: () => "finding instances",
});

/** Searches for what keeps an object alive (lisp/observe/heap-path.lisp). */
const heapPath = lispFunction({
  name: "heap-path",
  module: "observe",
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

/** Decodes the value of `run-code` (lisp/observe/heap.lisp). */
const codeValues = tagged({ values: list(string) });

/** What code has left in the heap. */
export interface CodeGrowth {
  /** The first values of the code, printed. */
  readonly values: readonly string[];
  /** The heap before the code. */
  readonly before: HeapSummary;
  /** How the heap differed from that when the code had returned. */
  readonly growth: HeapGrowth;
}

/** Code between two looks at the heap. */
interface GrowthCode extends PreparedCode<readonly string[]> {
  readonly before: HeapSummary;
  /** How the heap differs now from `before`. */
  growth(options?: QuestionOptions): Promise<HeapGrowth>;
}

const codeGrowthOptions = { ...summaryOptions, ...taskOptions };

/** What to count in the heap, and how to run the code. */
export interface CodeGrowthOptions extends OptionsOf<typeof codeGrowthOptions> {}

/** Makes a summary, and returns code to evaluate, whose result are its first values, and a function that looks again afterwards. */
export async function growthCode(lisp: LispRunner, code: string, options: CodeGrowthOptions): Promise<GrowthCode> {
  checkOptions("heap.growthOf", options, codeGrowthOptions);
  checkBalanced("code", code);
  const asking = lisp.with({ signal: options.signal });
  const before = await asking.run(heapSummary, options);
  if (before.id === undefined) {
    throw new SwankError(
      "WATCH_REFUSED",
      "The heap is too large to be counted in 5 seconds, so it cannot be compared.",
      {
        remedy: "Use instances of the types that you suspect, or path.",
      },
    );
  }
  const since = before.id;
  const operator = await lisp.loadedOperator("run-code", "observe", options.signal);
  return {
    before,
    code: `(${operator} ${print(code)})`,
    result: (value) => codeValues(read(value)),
    growth: ({ signal } = {}) => lisp.with({ signal }).run(heapGrowth, { ...options, since }),
  };
}

/** Questions about the heap. Each loads the module `observe` into the image when it is first asked. */
export class Heap {
  readonly #lisp: LispRunner;
  readonly #start: StartTask;

  constructor(lisp: LispRunner, start: StartTask) {
    this.#lisp = lisp;
    this.#start = start;
  }

  /**
   * Counts the objects in the heap by type. Threads that need a garbage collection wait meanwhile, at most 5 seconds.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async summary(options: HeapSummaryOptions = {}): Promise<HeapSummary> {
    return questionsTo(this.#lisp, "heap.summary", options, summaryOptions).run(heapSummary, options);
  }

  /**
   * Counts the objects as `summary` does, and compares them with a summary.
   *
   * @throws SwankError `INVALID_ARGUMENT`, also if there is no such summary, and the errors of `LispRunner.run`.
   */
  async growth(options: HeapGrowthOptions = {}): Promise<HeapGrowth> {
    return questionsTo(this.#lisp, "heap.growth", options, growthOptions).run(heapGrowth, options);
  }

  /**
   * Evaluates code between two looks at the heap, and returns the difference. The second look begins when the code returns, and is taken once.
   *
   * @returns the running task. Never throws: `result()` reports the errors of `Task.result`, and those of `summary` and `growth`. It waits for the
   * second look, which `signal` ends, too.
   */
  growthOf(code: string, options: CodeGrowthOptions = {}): Task<CodeGrowth> {
    const prepare = async (signal: AbortSignal | undefined) => {
      const run = await growthCode(this.#lisp, code, { ...options, signal });
      let growth: Promise<HeapGrowth> | undefined;
      const measured = () => {
        growth ??= run.growth({ signal: options.signal });
        return growth;
      };
      return {
        code: run.code,
        // `result` reports the error.
        onReturned: () => void measured().catch(() => undefined),
        result: async (value: string): Promise<CodeGrowth> => ({
          values: run.result(value),
          before: run.before,
          growth: await measured(),
        }),
      };
    };
    return startPrepared(this.#start, prepare, options, { policy: "keep" });
  }

  /**
   * Finds objects of a type, with their ids.
   *
   * @param type - A Lisp type, e.g. the name of a class. Instances of its subclasses count.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async instances(type: string, options: HeapInstancesOptions = {}): Promise<HeapInstances> {
    check.text("type", type);
    return questionsTo(this.#lisp, "heap.instances", options, instancesOptions).run(heapInstances, type, options);
  }

  /**
   * Finds what keeps an object alive: the shortest way to it from a variable, a function or another definition of a package, or from a
   * variable that a thread has bound. It does not see stacks, registers and foreign memory, and stops no thread.
   *
   * @param id - As for `inspectObject`.
   * @throws SwankError `NO_SUCH_OBJECT`, `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async path(id: number, options: QuestionOptions = {}): Promise<HeapPath> {
    check.id("id", id);
    return questionsTo(this.#lisp, "heap.path", options, question).run(heapPath, id);
  }
}
