import type { Outcome } from "swank-client";

type Stopped = Extract<Outcome, { status: "stopped" }>;
type Snapshot = Stopped["error"];
type Transcript = Pick<Outcome, "stdout" | "stderr" | "warnings" | "warningsOmitted" | "package">;

/** A transcript of nothing. */
export const SILENT: Transcript = {
  stdout: "",
  stderr: "",
  warnings: [],
  warningsOmitted: 0,
  package: "COMMON-LISP-USER",
};

/** Frames as calls, in order from the innermost; `user` unless the call begins with `machinery:` or `host:`. */
export function frames(...calls: string[]): Snapshot["frames"] {
  return calls.map((text, index) => {
    const kind = text.startsWith("machinery:") ? "machinery" : text.startsWith("host:") ? "host" : "user";
    return { index, kind, call: text.replace(/^(?:machinery|host):/, "") } as const;
  });
}

/** Restarts as `NAME - description`, innermost first. */
export function restarts(...texts: string[]): Snapshot["restarts"] {
  return texts.map((text, index) => {
    const [name = "", description = ""] = text.split(" - ");
    return { index, name, description };
  });
}

/** The division by zero of the contracts, with whatever is to be different about it. */
export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  const shown = changes.frames ?? frames("(/ 1 0)", "machinery:(EVAL (/ 1 0))");
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

/** The outcome of an evaluation that gave values. */
export function returned(values: readonly string[], transcript: Partial<Transcript> = {}): Outcome {
  return { ...SILENT, ...transcript, status: "returned", values, valueCount: values.length };
}
