import type { Outcome } from "swank-client";

type Stopped = Extract<Outcome, { status: "stopped" }>;
type Returned = Extract<Outcome, { status: "returned" }>;
type StopData = Stopped["stop"]["data"];
type Snapshot = StopData["condition"];
type Transcript = Omit<Extract<Outcome, { status: "lost" }>, "status" | "cause">;

/** An empty transcript. */
export const SILENT: Transcript = {
  stdout: "",
  stderr: "",
  output: [],
  outputOmitted: [],
  warnings: [],
  warningsInFiles: [],
  warningsOmitted: 0,
  redefinitions: { count: 0, files: [], stale: [], inside: [] },
  package: "COMMON-LISP-USER",
  milliseconds: undefined,
};

/** Frames as calls, in order from the innermost; `user` unless the call begins with `system:` or `toplevel:`. */
export function frames(...calls: string[]): Snapshot["frames"] {
  return calls.map((text, index) => {
    const kind = text.startsWith("system:") ? "system" : text.startsWith("toplevel:") ? "toplevel" : "user";
    return { index, kind, call: text.replace(/^(?:system|toplevel):/, "") } as const;
  });
}

/** Restarts as `NAME - description`, innermost first. */
export function restarts(...texts: string[]): Snapshot["restarts"] {
  return texts.map((text, index) => {
    const [name = "", description = ""] = text.split(" - ");
    return { index, name, description };
  });
}

/** Returns the contracts' division by zero, with changes. */
export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  const shown = changes.frames ?? frames("(/ 1 0)", "system:(EVAL (/ 1 0))");
  return {
    type: "DIVISION-BY-ZERO",
    class: "COMMON-LISP:DIVISION-BY-ZERO",
    supertypes: ["ARITHMETIC-ERROR", "ERROR", "SERIOUS-CONDITION", "CONDITION"],
    message: "arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).",
    slots: [],
    restarts: restarts("RETRY - Evaluate form 1 again.", "ABORT - Return to top level"),
    frames: shown,
    totalFrames: shown.length,
    timestamp: 1_700_000_000_000,
    ...changes,
  };
}

/** Returns the data of a stop at that division, with changes. */
export function stopData(thread: number, level: number, changes: Partial<StopData> = {}): StopData {
  const condition = changes.condition ?? snapshot();
  const rest = { number: undefined, isOwn: false, reason: "error", detail: {}, locals: [] } as const;
  return { ...rest, thread, level, condition, ...changes };
}

/** Returns the outcome of an evaluation that returned values, with changes. */
export function returned(
  values: readonly string[],
  changes: Partial<Omit<Returned, "status" | "values">> = {},
): Outcome {
  return {
    ...SILENT,
    status: "returned",
    values,
    valueCount: values.length,
    formCount: 1,
    unshownForms: [],
    cutValues: [],
    ...changes,
  };
}
