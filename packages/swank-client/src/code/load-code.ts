import { print, read, T } from "sexp-parser";
import { checkOptions, checkText } from "../base/check-arguments.js";
import { loadProgress } from "../calls/load-progress.js";
import { type LoadReply, type LoadResult, loadReply } from "../calls/load-result.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { LOAD_OPTIONS, type LoadOptions } from "./code-options.js";
import { locatedNotes } from "./unreadable-notes.js";

/** Code that loads a system or a file. It is evaluated as any other code, so that it can stop, print and be interrupted. */
export interface LoadCode {
  /** Evaluate this with `valuesAs: "data"` and `policy: "keep"`, so that compiled files are as the user's own. */
  readonly code: string;
  /**
   * The result in the printed first value.
   *
   * @throws DecodeError, ReadError if that is not a value of `code`.
   */
  result(value: string): LoadResult;
  /**
   * What the latest evaluation of `code` has done so far, also if that has stopped or was aborted.
   *
   * @returns `undefined` if there was none, or many others since.
   * @throws the errors of `LispRunner.run`.
   */
  progress(options?: { readonly signal?: AbortSignal | undefined }): Promise<LoadResult | undefined>;
}

/** What to load. */
export type LoadSource = { readonly system: string } | { readonly file: string };

/** The number of code that was made last. Each evaluation's progress is asked for with its own number. */
let lastKey = 0;

/** Loads the module that loads systems, and returns code that calls it. */
export async function loadCode(lisp: LispRunner, source: LoadSource, options: LoadOptions): Promise<LoadCode> {
  checkOptions("loadSystem", options, LOAD_OPTIONS);
  if ("system" in source) checkText("system", source.system);
  else checkText("file", source?.file);
  const { force = false, test = false, signal } = options;
  const operator = await lisp.loadedOperator("load-code", "code", signal);
  lastKey += 1;
  const key = lastKey;
  const [isSystem, name] = "system" in source ? [true, source.system] : [false, source.file];
  const flags = [force === true, test === true].map(flag).join(" ");
  return {
    code: `(${operator} ${key} ${flag(isSystem)} ${print(name)} ${flags})`,
    result: (value) => located(loadReply(read(value))),
    async progress(limits = {}) {
      const reply = await lisp.with({ signal: limits.signal }).run(loadProgress, key);
      return reply && located(reply);
    },
  };
}

function flag(value: boolean): string {
  return value ? print(T) : "nil";
}

function located({ result, unreadable }: LoadReply): LoadResult {
  if (result.status !== "loading" || unreadable === undefined) return result;
  const { file, text } = unreadable;
  return { ...result, notes: locatedNotes(result.notes, text, (note) => note.file === file) };
}
