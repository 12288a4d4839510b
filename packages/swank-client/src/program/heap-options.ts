import type { OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";

/** How to look at the heap. */
export interface HeapOptions extends QuestionOptions {
  /**
   * Collect all garbage first, so that only what is alive counts. That pauses all threads, and there is no limit for it. It is left out if
   * more than half of the heap is in use. Default: true.
   */
  readonly collect?: boolean | undefined;
  /** Number of types or instances to return, at most 1,000. Default: 20. */
  readonly limit?: number | undefined;
}

/** What to count in the heap. */
export interface HeapSummaryOptions extends HeapOptions {
  /** A Lisp type, e.g. the name of a class: only objects of this type count. Default: all objects. */
  readonly type?: string | undefined;
}

/** What to compare in the heap. */
export interface HeapGrowthOptions extends HeapSummaryOptions {
  /** The id of the summary to compare with. Default: the latest one of this client. */
  readonly since?: number | undefined;
}

/** The names of {@link HeapOptions}. */
export const HEAP_OPTIONS: OptionNames<HeapOptions> = { ...QUESTION_OPTIONS, collect: true, limit: true };

/** The names of {@link HeapSummaryOptions}. */
export const HEAP_SUMMARY_OPTIONS: OptionNames<HeapSummaryOptions> = { ...HEAP_OPTIONS, type: true };

/** The names of {@link HeapGrowthOptions}. */
export const HEAP_GROWTH_OPTIONS: OptionNames<HeapGrowthOptions> = { ...HEAP_SUMMARY_OPTIONS, since: true };
