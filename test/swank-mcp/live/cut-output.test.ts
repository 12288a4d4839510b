import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

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

/** Texts that code writes past the streams of its evaluation and of its threads, and that code. */
const WRITERS: Readonly<Record<string, readonly [text: string, code: string]>> = {
  "a child process": ["childs", `(sb-ext:run-program "/bin/echo" '("childs") :output t)`],
  "a child process with interactive output": [
    "uiop",
    `(require :asdf) (funcall (find-symbol "RUN-PROGRAM" "UIOP") "echo uiop; echo errors >&2" :output :interactive :error-output :interactive)`,
  ],
  "C code": [
    "ccode!",
    `(sb-alien:alien-funcall (sb-alien:extern-alien "puts" (function sb-alien:int sb-alien:c-string)) "ccode!")
     (sb-alien:alien-funcall (sb-alien:extern-alien "fflush" (function sb-alien:int sb-alien:long)) 0)`,
  ],
  "Lisp's initial stream": ["direct", `(format sb-sys:*stdout* "direct~%") (finish-output sb-sys:*stdout*)`],
};

const TITLE = /^\[output of the image's process, \d\d:\d\d:\d\d(?: to \d\d:\d\d:\d\d)?\]\n/;

describe("output of the image's process", function () {
  this.timeout(120_000);
  const server = liveServer();

  for (const [writer, [text, code]] of Object.entries(WRITERS)) {
    it(`is in the answer, once, and shown by lisp-status: ${writer}`, async () => {
      const answer = blocks(await server.call("evaluate-lisp", { code: `${code} (sleep 0.2) 1` }));
      expect(answer[0]).to.equal("=> 1");
      expect(answer.at(-1)).to.match(TITLE).and.include(`]\n${text}`);
      expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
      const { structuredContent } = await server.call("lisp-status");
      expect(structuredContent).to.have.nested.property("process_output.end").that.includes(`${text}\n`);
    });
  }

  it("is not the output of the evaluation itself", async () => {
    expect(await server.evaluate('(format t "a~%") (format *error-output* "b~%") (finish-output) 1')).to.have.length(1);
  });

  it("is in the answer of the next evaluation if a program writes between two evaluations", async () => {
    const code = `(sb-ext:run-program "/bin/sh" '("-c" "sleep 0.3; echo late") :output t :wait nil)`;
    expect(await server.evaluate(`(progn ${code} 1)`)).to.deep.equal(["=> 1"]);
    let answer = await server.evaluate("1");
    while (answer.length === 1) answer = await server.evaluate("(sleep 0.1) 1");
    expect(answer[1])
      .to.match(TITLE)
      .and.match(/\]\nlate$/);
  });

  it("is cut when it is long, and can be read on to its end", async () => {
    const code = `(progn (sb-ext:run-program "/bin/sh" '("-c" "seq 1 5000") :output t) (sleep 0.3) 1)`;
    const [, shown = ""] = await server.evaluate(code);
    expect(shown).to.have.lengthOf.within(2000, 2300);
    expect(shown)
      .to.include("]\n1\n2\n")
      .and.match(/\n5000$/);
    const [, left, output, offset] =
      /\[\.\.\. (\d+) of 23893 characters left out\. To read on, call evaluate-lisp with \{"output":(\d+),"offset":(\d+)\} \.\.\.\]/.exec(
        shown,
      ) ?? [];
    expect(Number(left)).to.be.greaterThan(20_000);
    const [more = "", place] = blocks(
      await server.call("evaluate-lisp", { output: Number(output), offset: Number(offset), "max-output": 30_000 }),
    );
    expect(more)
      .to.match(TITLE)
      .and.include("\n1000\n1001\n")
      .and.match(/\n5000$/);
    expect(place).to.equal(`Characters ${offset} to 23893 of 23893.`);
    const [, whole = ""] = blocks(await server.call("evaluate-lisp", { code, "max-output": 30_000 }));
    expect(whole).to.include("\n2500\n2501\n").and.not.include("left out");
  });

  it("is in the answer of a debugger tool that resumes or evaluates", async () => {
    await server.call("evaluate-lisp", { code: '(with-simple-restart (go-on "") (error "x")) :done' });
    const echo = `(sb-ext:run-program "/bin/echo" '("framed") :output t)`;
    const inFrame = blocks(
      await server.call("debugger_eval_in_frame", { frame: 0, code: `(progn ${echo} (sleep 0.3) 1)` }),
    );
    expect(inFrame.at(-1)).to.match(TITLE).and.include("\nframed");
    const resumed = blocks(await server.call("debugger_invoke_restart", { restart: "GO-ON" }));
    expect(resumed[0]).to.equal("=> :DONE");
    expect(resumed).to.have.length(1);
  });

  it("is said to be elsewhere by lisp-status if the image is attached", async () => {
    const lisp = await startRealSwank();
    const attached = await McpStdio.start(["--attach", String(lisp.port)]);
    const { structuredContent } = await attached.call("lisp-status");
    expect(structuredContent?.["process_output"]).to.match(/^not seen here: /);
    await attached.end();
    await lisp.stop();
  });
});
