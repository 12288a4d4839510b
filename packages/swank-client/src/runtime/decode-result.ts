import { type Decoder, decode, type Sexp } from "sexp-parser";
import type { ErrorSnapshot, LispWarning } from "../evaluation/outcome.js";
import { stopReport, warnings } from "./decode-snapshot.js";

/** Where in the source code reading failed, and what ran before. */
export interface ReadFailure {
  /** Characters read up to the error; `undefined` when the error did not come from the reader. */
  readonly offset: number | undefined;
  /** Forms that were evaluated before. */
  readonly evaluated: number;
}

/** What the runtime's `evaluate` gives. */
export type EvaluationResult =
  | { readonly status: "returned"; readonly values: readonly string[]; readonly count: number; readonly ending: Ending }
  | { readonly status: "aborted"; readonly ending: Ending }
  | { readonly status: "failed"; readonly error: ErrorSnapshot; readonly failure: ReadFailure; readonly ending: Ending }
  | { readonly status: "no-such-package"; readonly name: string };

/** What every evaluation that ran ends with. */
export interface Ending {
  readonly warnings: readonly LispWarning[];
  readonly warningsOmitted: number;
  readonly package: string;
}

const { integer, list, map, nullable, optional, plist, string, tagged, tupleRest } = decode;

/** The first values as text, and how many there were (lisp/printing.lisp). */
export const printedValues = plist({ values: list(string), count: integer });

const ending = plist({ warnings, warningsOmitted: integer, package: string });
const failure = plist({ offset: optional(nullable(integer)), evaluated: integer });

const failed: Decoder<{ error: ErrorSnapshot; failure: ReadFailure }> = (datum: Sexp) => {
  const { offset, evaluated } = failure(datum);
  return { error: stopReport(datum).error, failure: { offset: offset ?? undefined, evaluated } };
};

/** `(:returned PLIST . ENDING)`, `(:failed SNAPSHOT . ENDING)`, `(:aborted . ENDING)` or `(:no-such-package NAME)` (lisp/evaluate.lisp). */
export const evaluationResult: Decoder<EvaluationResult> = tagged({
  returned: map(
    tupleRest([printedValues], ending),
    ([result, end]): EvaluationResult => ({ status: "returned", ...result, ending: end }),
  ),
  failed: map(
    tupleRest([failed], ending),
    ([result, end]): EvaluationResult => ({ status: "failed", ...result, ending: end }),
  ),
  aborted: map(ending, (end): EvaluationResult => ({ status: "aborted", ending: end })),
  "no-such-package": map(decode.tuple(string), ([name]): EvaluationResult => ({ status: "no-such-package", name })),
});
