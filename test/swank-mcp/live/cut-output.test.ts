import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";

/** Prints 10 characters for each number. */
const LINES = (count: number) => `(dotimes (i ${count}) (format t "line ~4,'0d~%" i))`;

function lines(count: number): string {
  return [...Array(count).keys()].map((n) => `line ${String(n).padStart(4, "0")}\n`).join("");
}

describe("evaluate-lisp with output that is cut", () => {
  const server = liveServer();

  it("shows its beginning and its end, and how to read on", async () => {
    const [report = ""] = await server.evaluate(LINES(3000));
    expect(report).to.have.lengthOf.within(12_000, 12_200);
    const [start = "", marker = "", end = ""] = report.split(/^(\[\.\.\. .* \.\.\.\])\n/m);
    expect(start).to.equal(`[stdout]\n${lines(800)}\n`);
    expect(end).to.equal(lines(3000).slice(-4000).trimEnd());
    expect(marker).to.equal(
      '[... 18000 of 30000 characters left out: max-output is 12000. To read on, call evaluate-lisp with {"output":1,"offset":8000} ...]',
    );
  });

  it("cuts it to max-output", async () => {
    const [report = ""] = await server.evaluate(LINES(3000), { "max-output": 1000 });
    expect(report).to.have.lengthOf.within(1000, 1200);
    expect(await server.evaluate(LINES(3000), { "max-output": 40_000 })).to.deep.equal([
      `[stdout]\n${lines(3000).trimEnd()}`,
    ]);
  });

  it("reads it on, without running anything again, until its end", async () => {
    await server.evaluate("(defvar *runs* 0)");
    const [report = ""] = await server.evaluate(`(incf *runs*) ${LINES(3000)}`);
    const [, id, offset] = /\{"output":(\d+),"offset":(\d+)\}/.exec(report) ?? [];
    let at = { output: Number(id), offset: Number(offset) };
    let text = lines(3000).slice(0, at.offset);
    for (let part = 0; part < 2; part += 1) {
      const [shown = "", place = ""] = blocks(await server.call("evaluate-lisp", at));
      text += shown.replace("[stdout]\n", "");
      const next = /\{"output":(\d+),"offset":(\d+)\}/.exec(place);
      expect(place).to.match(
        part === 0 ? /^Characters 8000 to 20000 of 30000\. Next: / : /^Characters 20000 to 30000 of 30000\.$/,
      );
      if (next === null) break;
      text += "\n";
      at = { output: Number(next[1]), offset: Number(next[2]) };
    }
    expect(text).to.equal(lines(3000).trimEnd());
    expect(await server.evaluate("*runs*")).to.deep.equal(["=> 1"]);
  });

  it("reads a part of any size, and keeps the last error", async () => {
    const failed = await server.call("evaluate-lisp", { code: `${LINES(2000)} (error "after it")` });
    const [report = ""] = blocks(failed);
    const output = Number(/\{"output":(\d+)/.exec(report)?.[1]);
    const answer = await server.call("evaluate-lisp", { output, offset: 19_980, "max-output": 1000 });
    expect(blocks(answer)).to.deep.equal(["[stdout]\nline 1998\nline 1999", "Characters 19980 to 20000 of 20000."]);
    expect(blocks(await server.call("describe-last-error"))[0]).to.include("after it");
  });

  it("refuses output that is not kept, an offset after its end, and code beside it", async () => {
    const [report = ""] = await server.evaluate(LINES(2000));
    const output = Number(/\{"output":(\d+)/.exec(report)?.[1]);
    const refused = (args: object) => server.call("evaluate-lisp", args);
    expect(refusalType(await refused({ output: output + 1 }))).to.equal("NO_SUCH_OUTPUT");
    expect(refusalType(await refused({ output, offset: 20_000 }))).to.equal("INVALID_ARGUMENTS");
    expect(refusalType(await refused({ output, code: "1" }))).to.equal("INVALID_ARGUMENTS");
    expect(refusalType(await refused({ offset: 1 }))).to.equal("INVALID_ARGUMENTS");
    expectFacts(
      [...blocks(await refused({ output: 99 })), ...blocks(await refused({}))].join("\n\n"),
      "Output 99 is not kept.\nEvaluate the code again, with a larger max-output.",
      'The argument "code" is missing: it must be a string.',
    );
  });

  it("keeps two million characters of each stream, and says how many more there were", async () => {
    const code =
      '(let ((line (make-string 1000 :initial-element #\\a))) (dotimes (i 3000) (write-string line)) (princ "end"))';
    const [report = ""] = await server.evaluate(code);
    expect(report).to.match(/ of 2004\d\d\d characters left out: /);
    const output = Number(/\{"output":(\d+)/.exec(report)?.[1]);
    const [part = ""] = blocks(await server.call("evaluate-lisp", { output, offset: 1_999_000 }));
    expect(part).to.match(/a\n\[\.\.\. 996003 characters left out \.\.\.\]\na+end$/);
  });
});
