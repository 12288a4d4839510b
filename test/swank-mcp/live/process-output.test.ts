import { expect } from "chai";
import { liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

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
