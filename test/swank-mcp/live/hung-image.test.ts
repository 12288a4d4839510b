import { expect } from "chai";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";
import { sideBySide } from "../../support/side-by-side.js";

/** Code that hangs the image: Swank blocks on each at every request. It sleeps, because these tests run at the same time and an image that signals error after error there takes a processor. */
const HANGING: readonly string[] = [
  "(defmethod print-object ((thread sb-thread:thread) stream) (loop (sleep 1)))",
  '(set-pprint-dispatch t (lambda (stream object) (declare (ignore stream object)) (sleep 1) (error "no")))',
];

const OWN_REMEDY =
  /The image does not answer other requests either\. It may be busy: wait, then call again\. If it still does not answer, call reset-session: it replaces the image/;
const SUSPENDED_REMEDY =
  /The image may be suspended, .*; this server cannot tell which\. Ask the user to check the image/;

describe("hung image", function () {
  this.timeout(120_000);

  sideBySide({
    "is shown by lisp-status with the known facts, and is replaced by reset-session": async () => {
      const server = await McpStdio.start();
      const pid = await server.imagePid();
      process.kill(pid, "SIGSTOP");
      const { structuredContent, isError } = await server.call("lisp-status");
      expect(isError).to.equal(false);
      expect(structuredContent).to.deep.include({ image: "own", pid, package: "COMMON-LISP-USER", stopped: [] });
      expect(structuredContent?.["unresponsive"]).to.match(/^The image does not answer: .* call reset-session: /);
      await expectReset(server);
    },

    ...Object.fromEntries(
      HANGING.map((code) => [
        `is reported with its remedy by every answer: ${code}`,
        async () => {
          const server = await McpStdio.start();
          await server.evaluate("1");
          const late = await server.call("evaluate-lisp", { code, timeout: 1 });
          expect(blocks(late)[0])
            .to.match(/^\[TIMEOUT\] TIMEOUT\n/)
            .and.to.match(OWN_REMEDY);
          const asked = await server.call("debugger_frames");
          expect(refusalType(asked)).to.equal("IMAGE_HANGS");
          expect(blocks(asked)[0]).to.match(
            /\nIt may be busy: wait, then call again\. .* call reset-session: it replaces the image with a fresh one/,
          );
          await expectReset(server);
        },
      ]),
    ),

    "is left alone by reset-session if it is attached, with the remedy for its owner": async () => {
      const lisp = await startRealSwank();
      const server = await McpStdio.start(["--attach", String(lisp.port)]);
      expect(await server.evaluate("(defun hung-image () 1)", { timeout: 60 })).to.deep.equal(["=> HUNG-IMAGE"]);
      lisp.process.kill("SIGSTOP");
      const refused = await server.call("reset-session");
      expect(refusalType(refused)).to.equal("IMAGE_HANGS");
      expect(blocks(refused)[0]).to.match(SUSPENDED_REMEDY);
      const { structuredContent } = await server.call("lisp-status");
      expect(structuredContent?.["unresponsive"]).to.match(SUSPENDED_REMEDY);
      expect(blocks(await server.call("evaluate-lisp", { code: "1", timeout: 1 }))[0]).to.match(SUSPENDED_REMEDY);
      lisp.process.kill("SIGCONT");
      expect(await server.evaluate("(hung-image)")).to.deep.equal(["=> 1"]);
      await server.end();
      await lisp.stop();
    },
  });
});

/** Expects that `reset-session` gives the server a new image, and ends the server. */
async function expectReset(server: McpStdio): Promise<void> {
  expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\. A fresh image/);
  expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
  await server.end();
}
