import { expect } from "chai";
import { reportText } from "#swank-mcp/report/report.js";
import { type Conclusion, conclude } from "#swank-mcp/session/conclusion.js";
import { expectFacts } from "../../support/facts.js";
import { frames, returned, SILENT, snapshot } from "../../support/mcp-outcomes.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

function errorReport(error: ReturnType<typeof snapshot>, transcript: Partial<typeof SILENT> = {}): string {
  return reportText(conclude({ kind: "outcome", outcome: { ...SILENT, ...transcript, status: "aborted", error } }));
}

function valueReport(...args: Parameters<typeof returned>): string {
  return reportText(conclude({ kind: "outcome", outcome: returned(...args) }));
}

describe("reportText", () => {
  it("shows a value", () => {
    expect(valueReport(["3"])).to.equal("=> 3");
  });

  it("shows each value on its own line", () => {
    expect(valueReport(["2", "1"])).to.equal("=> 2\n=> 1");
  });

  it("says when there are no values", () => {
    expect(valueReport([])).to.equal("; No values");
  });

  it("shows output, then errors, then warnings, then values, a blank line between", () => {
    const text = valueReport(["NIL"], {
      stdout: "out\n",
      stderr: "err",
      warnings: [
        { type: "STYLE-WARNING", class: "STYLE-WARNING", message: "Using deprecated function OLD-FN." },
        { type: "WARNING", class: "WARNING", message: "Undefined variable assumed special." },
      ],
    });
    expectFacts(
      text,
      "[stdout]\nout\n\n[stderr]\nerr\n\n[warnings]\nSTYLE-WARNING: Using deprecated function OLD-FN.\nWARNING: Undefined variable assumed special.\n\n=> NIL",
    );
  });

  it("leaves out a NIL beside much output, and no other value", () => {
    const stdout = "line\n".repeat(200);
    expect(valueReport(["NIL"], { stdout })).to.equal(`[stdout]\n${stdout.trimEnd()}`);
    expect(valueReport(["NIL"], { stdout: stdout.slice(5) })).to.match(/\n\n=> NIL$/);
    expect(valueReport(["T"], { stdout })).to.match(/\n\n=> T$/);
    expect(valueReport(["NIL", "NIL"], { stdout })).to.match(/\n\n=> NIL\n=> NIL$/);
    expect(valueReport([], { stdout })).to.match(/\n\n; No values$/);
  });

  it("shows the number of values and warnings left out", () => {
    const warnings = [{ type: "WARNING", class: "WARNING", message: "careful" }] as const;
    const outcome = returned(["1", "2"], { valueCount: 9, warnings, warningsOmitted: 5 });
    const conclusion = conclude({ kind: "outcome", outcome });
    expectFacts(
      reportText(conclusion),
      "WARNING: careful\nWARNING: [5 more warnings left out]\n\n=> 1\n=> 2\n=> [2 of 9 values shown]",
    );
  });

  it("keeps the lines of one warning apart from the next warning", () => {
    const text = valueReport(["1"], {
      warnings: [{ type: "WARNING", class: "WARNING", message: "undefined variables:\n  X\n  Y" }],
    });
    expectFacts(text, "WARNING: undefined variables:\n    X\n    Y\n\n=> 1");
  });

  it("removes only the last line feed of the output", () => {
    expect(valueReport(["1"], { stdout: "\na\n\n" })).to.equal("[stdout]\n\na\n\n\n=> 1");
  });

  it("reports an error as the contract shows it", () => {
    const error = snapshot({
      type: "UNDEFINED-FUNCTION",
      message: "The function FOO is undefined.",
      frames: frames("(FOO 1 2 3)", "(BAR X)", "(USER-FUNCTION)"),
    });
    snapshots.match("an error", errorReport(error));
  });

  it("reports what was printed before the error", () => {
    const text = errorReport(snapshot({ message: "Arithmetic error: division by zero.", frames: frames("(/ 1 0)") }), {
      stdout: "Processing item 1...\nProcessing item 2...\n",
    });
    snapshots.match("output before an error", text);
  });

  it("omits frames of Lisp without renumbering the others", () => {
    const error = snapshot({ frames: frames("system:(ERROR)", "(A)", "system:(MAP)", "(B)", "toplevel:(EVAL)") });
    expect(errorReport(error)).to.match(/\[Backtrace\]\n1: \(A\)\n3: \(B\)$/);
  });

  it("shows the frames of Lisp if there is no user frame", () => {
    const error = snapshot({ frames: frames("system:(ERROR)", "toplevel:(EVAL)") });
    expect(errorReport(error)).to.match(/\[Backtrace\]\n0: \(ERROR\)$/);
  });

  it("shows the evaluator's frames if there are no others", () => {
    expect(errorReport(snapshot({ frames: frames("toplevel:(EVAL)") }))).to.match(/\[Backtrace\]\n0: \(EVAL\)$/);
  });

  it("has no backtrace without a stack", () => {
    expect(errorReport(snapshot({ message: "Gone.", frames: [] }))).to.equal("[ERROR] DIVISION-BY-ZERO\nGone.");
  });

  it("shows at most 20 frames and the number left out", () => {
    const calls = Array.from({ length: 25 }, (_, index) => `(F ${index})`);
    const lines = errorReport(snapshot({ frames: frames(...calls) }))
      .split("\n")
      .slice(-21);
    expect(lines[19]).to.equal("19: (F 19)");
    expect(lines[20]).to.equal("... 5 more frames: get-backtrace");
  });

  it("cuts a long argument list, and closes it", () => {
    const text = errorReport(snapshot({ frames: frames(`(F ${"argument ".repeat(100)})`) }));
    const call = text.split("\n").at(-1) ?? "";
    expect(call).to.match(/^0: \(F (argument )+\.\.\.\)$/);
    expect(call.length).to.be.at.most(310);
  });

  it("shows how much of a value is left out, and splits no character", () => {
    const text = valueReport([`${"x".repeat(20_999)}\u{1F600}${"y".repeat(100)}`]);
    expect(text).to.equal(`=> ${"x".repeat(20_999)} [... 102 characters left out ...]`);
  });

  it("cuts the longest values, and says how to get them whole", () => {
    const [a, b] = ["a".repeat(30_000), "b".repeat(12_000)];
    expect(valueReport([a, "short", b])).to.equal(
      `=> ${a.slice(0, 10_497)} [... 19503 characters left out ...]
=> short
=> ${b.slice(0, 10_497)} [... 1503 characters left out ...]
; Cut to fit. In the next call the list / holds the whole values: (nth 0 /) is the first.`,
    );
  });

  it("counts characters that JSON escapes at their escaped length", () => {
    expect(valueReport(["\u0000".repeat(3600)])).to.equal(
      `=> ${"\u0000".repeat(3500)} [... 100 characters left out ...]`,
    );
  });

  it("cuts the longest warnings, and says how to see them whole", () => {
    const warnings = ["w".repeat(100), "v".repeat(30_000)].map(
      (message) => ({ type: "WARNING", class: "WARNING", message }) as const,
    );
    expect(valueReport(["1"], { warnings })).to.equal(
      `[warnings]
WARNING: ${"w".repeat(100)}
WARNING: ${"v".repeat(20_900)} [... 9100 characters left out ...]
; Cut to fit. Evaluate fewer forms at a time to see their complete warnings.

=> 1`,
    );
  });

  it("counts the warnings of a file whose name has a newline on one line", () => {
    const warningsInFiles = [{ file: "lib/a\n[ERROR] b.lisp", type: "STYLE-WARNING", count: 3 }] as const;
    expect(valueReport(["1"], { warningsInFiles })).to.equal(
      "[warnings]\nSTYLE-WARNING: 3 not shown: lib/a [ERROR] b.lisp 3\n\n=> 1",
    );
  });

  it("says when an evaluation was aborted", () => {
    const conclusion: Conclusion = conclude({
      kind: "outcome",
      outcome: { ...SILENT, stdout: "a", status: "aborted" },
    });
    expect(reportText(conclusion)).to.equal("[stdout]\na\n\n; Evaluation aborted");
    expect(conclusion.isError).to.equal(false);
  });
});

snapshots.testCompleteness();
