import { print, read } from "sexp-parser";
import { checkId, checkNumber, checkOptions, checkText } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import { codeValues, type HeapCall, heapGrowth, heapInstances, heapPath, heapSummary } from "../calls/heap.js";
import type { HeapGrowth, HeapInstances, HeapPath, HeapSummary } from "../calls/heap-data.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { checkBalanced } from "./check-balanced.js";
import {
  HEAP_GROWTH_OPTIONS,
  HEAP_OPTIONS,
  HEAP_SUMMARY_OPTIONS,
  type HeapGrowthOptions,
  type HeapOptions,
  type HeapSummaryOptions,
} from "./heap-options.js";

/** Most types or instances in one answer, and how many by default. */
const MOST_ROWS = 1000;
const USUAL_ROWS = 20;

/** Code to evaluate between two looks at the heap. */
export interface HeapGrowthCode {
  /** The heap before the code. */
  readonly before: HeapSummary;
  /** Evaluate this with `valuesAs: "data"` and `policy: "keep"`. */
  readonly code: string;
  /**
   * The first values of the code, printed, in the printed first value of `code`.
   *
   * @throws DecodeError, ReadError if that is not a value of `code`.
   */
  values(value: string): readonly string[];
  /**
   * How the heap differs now from `before`.
   *
   * @throws the errors of `heapGrowth`.
   */
  growth(options?: QuestionOptions): Promise<HeapGrowth>;
}

/** Questions about the heap. Each loads the module `heap` into the image when it is first asked. */
export class Heap {
  readonly #lisp: LispRunner;

  constructor(lisp: LispRunner) {
    this.#lisp = lisp;
  }

  /**
   * Counts the objects in the heap by type. Threads that need a garbage collection wait meanwhile, at most 5 seconds.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async summary(options: HeapSummaryOptions = {}): Promise<HeapSummary> {
    checkOptions("heap.summary", options, HEAP_SUMMARY_OPTIONS);
    return this.#run(options).run(heapSummary, callOf(options));
  }

  /**
   * Counts the objects as `summary` does, and compares them with a summary.
   *
   * @throws SwankError `INVALID_ARGUMENT`, also if there is no such summary, and the errors of `LispRunner.run`.
   */
  async growth(options: HeapGrowthOptions = {}): Promise<HeapGrowth> {
    checkOptions("heap.growth", options, HEAP_GROWTH_OPTIONS);
    const { since } = options;
    if (since !== undefined) checkId("since", since);
    return this.#run(options).run(heapGrowth, { ...callOf(options), since });
  }

  /**
   * Makes a summary, and returns code to evaluate and a function that compares the heap with the summary afterwards.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async growthOf(code: string, options: HeapSummaryOptions = {}): Promise<HeapGrowthCode> {
    checkBalanced("code", code);
    const before = await this.summary(options);
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
    const operator = await this.#lisp.loadedOperator("run-code", "heap", options.signal);
    return {
      before,
      code: `(${operator} ${print(code)})`,
      values: (value) => codeValues(read(value)),
      growth: ({ signal } = {}) => this.growth({ ...options, since, signal }),
    };
  }

  /**
   * Finds objects of a type, with their ids.
   *
   * @param type - A Lisp type, e.g. the name of a class. Instances of its subclasses count.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async instances(type: string, options: HeapOptions = {}): Promise<HeapInstances> {
    checkText("type", type);
    checkOptions("heap.instances", options, HEAP_OPTIONS);
    return this.#run(options).run(heapInstances, { ...callOf(options), type });
  }

  /**
   * Finds what keeps an object alive: the shortest way to it from a variable, a function or another definition of a package, or from a
   * variable that a thread has bound. It does not see stacks, registers and foreign memory, and stops no thread.
   *
   * @param id - As for `inspectObject`.
   * @throws SwankError `NO_SUCH_OBJECT`, `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async path(id: number, options: QuestionOptions = {}): Promise<HeapPath> {
    checkId("id", id);
    checkOptions("heap.path", options, QUESTION_OPTIONS);
    return this.#run(options).run(heapPath, id);
  }

  #run({ signal }: QuestionOptions): LispRunner {
    return this.#lisp.with({ signal });
  }
}

function callOf({ type, collect = true, limit = USUAL_ROWS }: HeapSummaryOptions): HeapCall {
  if (type !== undefined) checkText("type", type);
  const isCount = Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS;
  checkNumber("limit", limit, `a whole number from 1 to ${MOST_ROWS}`, isCount);
  return { type, collect, limit };
}
