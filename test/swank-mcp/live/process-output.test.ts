import { expect } from "chai";
import { liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

/** Texts that code writes past the streams of its evaluation, and that code. */
const WRITERS: Readonly<Record<string, readonly [text: string, code: string]>> = {
  "a thread": [
    "thread",
    `(sb-thread:join-thread (sb-thread:make-thread (lambda () (format t "thread~%") (finish-output))))`,
  ],
  "a thread on standard error": [
    "errors",
    `(sb-thread:join-thread
       (sb-thread:make-thread (lambda () (format *error-output* "errors~%") (finish-output *error-output*))))`,
  ],
  "a child process": ["childs", `(sb-ext:run-program "/bin/echo" '("childs") :output t)`],
  "C code": [
    "ccode!",
    `(sb-alien:alien-funcall (sb-alien:extern-alien "puts" (function sb-alien:int sb-alien:c-string)) "ccode!")
     (sb-alien:alien-funcall (sb-alien:extern-alien "fflush" (function sb-alien:int sb-alien:long)) 0)`,
  ],
  "Lisp's initial stream": ["direct", `(format sb-sys:*stdout* "direct~%") (finish-output sb-sys:*stdout*)`],
};

describe("output of the image's process", function () {
  this.timeout(120_000);
  const server = liveServer();

  for (const [writer, [text, code]] of Object.entries(WRITERS)) {
    it(`is counted in the answer and shown by lisp-status: ${writer}`, async () => {
      const [value, aside] = blocks(await server.call("evaluate-lisp", { code: `(progn ${code} 1)` }));
      expect(value).to.equal("=> 1");
      expect(aside).to.match(
        /^Not in this answer: 7 characters on the image's own stdout or stderr, .* lisp-status shows/,
      );
      expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
      const { structuredContent } = await server.call("lisp-status");
      expect(structuredContent)
        .to.have.nested.property("process_output.end")
        .that.satisfies((end: string) => end.endsWith(`${text}\n`));
    });
  }

  it("is not mentioned for the output of the evaluation itself", async () => {
    expect(await server.evaluate('(format t "a~%") (format *error-output* "b~%") (finish-output) 1')).to.have.length(1);
  });

  it("is counted in the next answer if a thread writes between two evaluations", async () => {
    const code = '(sb-thread:make-thread (lambda () (sleep 0.3) (format t "late~%") (finish-output)))';
    expect(await server.evaluate(`(progn ${code} 1)`)).to.deep.equal(["=> 1"]);
    let answer = await server.evaluate("1");
    while (answer.length === 1) answer = await server.evaluate("(sleep 0.1) 1");
    expect(answer[1]).to.match(/^Not in this answer: 5 characters/);
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
