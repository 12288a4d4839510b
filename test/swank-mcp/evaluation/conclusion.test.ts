import { expect } from "chai";
import { SwankError } from "swank-client";
import { outcomeData } from "#swank-mcp/report/data.js";
import { reportText } from "#swank-mcp/report/report.js";
import { type Answerable, conclude } from "#swank-mcp/session/conclusion.js";
import { frames, restarts, returned, SILENT, snapshot } from "../../support/mcp-outcomes.js";
import { stop } from "../../support/mcp-scripted.js";

type Reason = "error" | "break" | "breakpoint" | "step" | "interrupt";

const NOW = 1_700_000_000_000;
const ERROR = snapshot();

function stopped(reason: Reason) {
  const outcome = {
    ...SILENT,
    status: "stopped",
    stop: stop(7, 2, { reason, condition: ERROR }),
  } as const;
  return { kind: "outcome", outcome } as const;
}

function running(thread: number | undefined, transcript: Partial<typeof SILENT> = {}): Answerable {
  return { kind: "running", timeout: 3000, thread, transcript: { ...SILENT, ...transcript } };
}

function lost(): Answerable {
  const cause = new SwankError("CONNECTION_LOST", "The other side closed the connection.");
  return { kind: "outcome", outcome: { ...SILENT, status: "lost", cause } };
}

/** The table "What sets and clears the last error". */
const TABLE: readonly [event: string, followed: Answerable, isError: boolean, change: string, tag: string][] = [
  ["returned", { kind: "outcome", outcome: returned(["1"]) }, false, "clear", "=> 1"],
  ["stopped by an error", stopped("error"), true, "set", "[ERROR] DIVISION-BY-ZERO"],
  [
    "stopped by a timeout",
    { ...stopped("interrupt"), kind: "timed-out", timeout: 3000 },
    true,
    "set",
    "[TIMEOUT] TIMEOUT",
  ],
  ["an interrupt while there was time left", stopped("interrupt"), true, "set", "[INTERRUPT] DIVISION"],
  [
    "stopped by a person who broke in",
    { ...stopped("interrupt"), kind: "interrupted" },
    true,
    "set",
    "[INTERRUPT] DIVISION-BY-ZERO",
  ],
  ["an error just before a person broke in", { ...stopped("error"), kind: "interrupted" }, true, "set", "[ERROR] DIV"],
  [
    "aborted since it did not react to a person",
    { kind: "interrupted", outcome: { ...SILENT, status: "aborted" } },
    false,
    "keep",
    "; Evaluation aborted",
  ],
  ["stopped by break", stopped("break"), false, "keep", "[BREAK] DIVISION-BY-ZERO"],
  ["stopped by a breakpoint", stopped("breakpoint"), false, "keep", "[BREAKPOINT] DIVISION-BY-ZERO"],
  ["stopped by a step", stopped("step"), false, "keep", "[STEP] DIVISION-BY-ZERO"],
  [
    "ended by an error",
    { kind: "outcome", outcome: { ...SILENT, status: "aborted", error: ERROR } },
    true,
    "set",
    "[ERROR] DIVISION-BY-ZERO",
  ],
  ["aborted", { kind: "outcome", outcome: { ...SILENT, status: "aborted" } }, false, "keep", "; Evaluation aborted"],
  ["lost", lost(), true, "set", "[ERROR] IMAGE-LOST"],
  [
    "killed after its time",
    { kind: "timed-out", timeout: 3000, outcome: { ...SILENT, status: "aborted" } },
    true,
    "set",
    "[TIMEOUT] TIMEOUT",
  ],
  ["running on", running(9), true, "set", "[TIMEOUT] TIMEOUT"],
  [
    "returned just after its time",
    { kind: "timed-out", timeout: 3000, outcome: returned(["1"]) },
    false,
    "clear",
    "=> 1",
  ],
];

describe("conclude", () => {
  for (const [event, followed, isError, change, beginning] of TABLE) {
    it(`${event}: ${isError ? "an error" : "no error"}, last error ${change}`, () => {
      const conclusion = conclude(followed, { now: NOW });
      expect(conclusion.isError).to.equal(isError);
      expect(conclusion.lastError.kind).to.equal(change);
      expect(reportText(conclusion).startsWith(beginning), reportText(conclusion)).to.equal(true);
    });
  }

  it("reports a timeout with the frames of the interrupted code", () => {
    const text = reportText(conclude({ ...stopped("interrupt"), kind: "timed-out", timeout: 3000 }));
    expect(text).to.equal(
      "[TIMEOUT] TIMEOUT\nThe evaluation gave no value within 3 s. It was interrupted and is paused in the debugger; it does not resume automatically.\n\n[Backtrace]\n0: (/ 1 0)",
    );
  });

  it("names the lock for which an evaluation waited when its time was up", () => {
    const timedOut = { kind: "timed-out", timeout: 3000, lock: 'the lock "cache", which thread 7 holds' } as const;
    expect(reportText(conclude({ ...stopped("interrupt"), ...timedOut }))).to.match(
      /^\[TIMEOUT\] TIMEOUT\nThe thread was waiting for the lock "cache", which thread 7 holds\. Wait until that thread has released the lock, then let this one continue\.\nThe evaluation gave no value within 3 s\./,
    );
    expect(reportText(conclude({ ...timedOut, outcome: { ...SILENT, status: "aborted" } }))).to.match(
      /within 3 s\. It was waiting for the lock "cache", which thread 7 holds, and could not stop there, so it was aborted\. Wait until /,
    );
    expect(reportText(conclude({ ...timedOut, kind: "running", thread: 9, transcript: SILENT }))).to.match(
      /STILL RUNNING in thread 9\. It waits for the lock "cache", which thread 7 holds\. Wait until /,
    );
  });

  it("names the thread of an evaluation that could not be aborted", () => {
    expect(reportText(conclude(running(9)))).to.match(/STILL RUNNING in thread 9\. Code does not react inside /);
    expect(reportText(conclude(running(undefined)))).to.match(/STILL RUNNING\. Code does not react inside /);
    const brokenIn: Answerable = { kind: "running", thread: 9, transcript: SILENT };
    expect(reportText(conclude(brokenIn))).to.match(
      /\nThe user interrupted the evaluation\. .*STILL RUNNING in thread 9\. Code does not react inside /,
    );
  });

  it("reports the output of an evaluation that still runs", () => {
    const conclusion = conclude(running(9, { stdout: "so far\n" }));
    expect(reportText(conclusion)).to.match(/^\[stdout\]\nso far\n\n\[TIMEOUT\] TIMEOUT\n/);
    expect(outcomeData(conclusion)).to.include({ status: "running", stdout: "so far\n", thread: 9 });
  });

  it("reports the whole reason of a lost evaluation", () => {
    expect(reportText(conclude(lost(), { loss: "The image was killed." }))).to.equal(
      "[ERROR] IMAGE-LOST\nThe image was killed.\nIt is not known how far the evaluation got.",
    );
  });
});

describe("outcomeData", () => {
  it("has the fields of a value", () => {
    const outcome = returned(["1", "2"], { stdout: "a", warnings: [{ type: "WARNING", class: "W", message: "m" }] });
    expect(outcomeData(conclude({ kind: "outcome", outcome }))).to.deep.equal({
      status: "returned",
      values: ["1", "2"],
      stdout: "a",
      stderr: "",
      warnings: [{ type: "WARNING", message: "m" }],
      package: "COMMON-LISP-USER",
    });
  });

  it("has the fields of a stop, with restarts counted from 1", () => {
    const error = snapshot({
      slots: [{ name: "OPERANDS", value: "(1 0)" }],
      restarts: restarts("RETRY - Again"),
      frames: frames("system:(ERROR)", "(F)"),
      totalFrames: 12,
    });
    const outcome = { ...SILENT, status: "stopped", stop: stop(7, 2, { condition: error }) } as const;
    expect(outcomeData(conclude({ kind: "outcome", outcome }))).to.deep.equal({
      status: "stopped",
      values: [],
      stdout: "",
      stderr: "",
      warnings: [],
      package: "COMMON-LISP-USER",
      thread: 7,
      level: 2,
      stop: { reason: "error" },
      error: {
        type: "DIVISION-BY-ZERO",
        class: "COMMON-LISP:DIVISION-BY-ZERO",
        supertypes: ["ARITHMETIC-ERROR", "ERROR", "SERIOUS-CONDITION", "CONDITION"],
        message: "arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).",
        slots: [{ name: "OPERANDS", value: "(1 0)" }],
        restarts: [{ index: 1, name: "RETRY", description: "Again" }],
        frames: [
          { index: 0, call: "(ERROR)" },
          { index: 1, call: "(F)" },
        ],
        total_frames: 12,
        timestamp: 1_700_000_000_000,
      },
    });
  });

  it("counts the values and warnings left out", () => {
    const warnings = [{ type: "WARNING", class: "W", message: "careful" }] as const;
    const outcome = returned(["1", "2"], { valueCount: 9, warnings, warningsOmitted: 5 });
    const data = outcomeData(conclude({ kind: "outcome", outcome }));
    expect(data).to.include({ values_left_out: 7, warnings_left_out: 5 });
    expect(data["values"]).to.deep.equal(["1", "2"]);
    expect(data["warnings"]).to.deep.equal([{ type: "WARNING", message: "careful" }]);
  });

  it("has the numbers of warnings of files, those with most first", () => {
    const warningsInFiles = [1, 3, 2].map((count) => ({ file: `lib/f${count}.lisp`, type: "WARNING", count }) as const);
    const data = outcomeData(conclude({ kind: "outcome", outcome: returned(["1"], { warningsInFiles }) }));
    expect(data["warnings_in_files"])
      .to.be.an("array")
      .with.lengthOf(3)
      .with.deep.property("0", { file: "lib/f3.lisp", type: "WARNING", count: 3 });
  });

  it("has the innermost frames, as reports do, and is not cut otherwise", () => {
    const long = "x".repeat(21_100);
    const deep = frames(...Array.from({ length: 200 }, (_, index) => `(F ${index})`));
    const error = snapshot({ message: long, frames: deep, totalFrames: 300 });
    const data = outcomeData(conclude({ kind: "outcome", outcome: { ...SILENT, status: "aborted", error } }));
    expect(data).to.have.nested.property("error.message", long);
    expect(data).to.have.nested.property("error.total_frames", 300);
    const innermost = deep.slice(0, 20).map(({ index, call }) => ({ index, call }));
    expect(data).to.have.nested.property("error.frames").that.deep.equals(innermost);
  });

  it("has a line where output is missing, at the end of a text on a line of its own", () => {
    const cut = {
      stdout: "headtail",
      stderr: "line\n",
      outputOmitted: [
        { stream: "stdout", at: 0, count: 7 },
        { stream: "stderr", at: 5, count: 8 },
        { stream: "stdout", at: 4, count: 9 },
      ],
    } as const;
    const marked = {
      stdout: "\n[... 7 characters left out ...]\nhead\n[... 9 characters left out ...]\ntail",
      stderr: "line\n[... 8 characters left out ...]\n",
    };
    for (const followed of [{ kind: "outcome", outcome: returned(["1"], cut) }, running(7, cut)] as const) {
      expect(outcomeData(conclude(followed))).to.deep.include(marked);
    }
  });
});
