import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Client, ElicitResult } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { EVERY_CALL } from "../../support/every-call.js";
import { liveHttp } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { connectFirst, connectSecond, MODES, textFrom, type UserAnswer } from "../../support/official-clients.js";

function evaluate(client: Client, code: string): Promise<string> {
  return textFrom(client, "evaluate-lisp", { code });
}

for (const [place, mode] of [
  ...MODES.map((mode) => ["stdio", mode] as const),
  ...MODES.map((mode) => ["HTTP", mode] as const),
]) {
  describe(`the client of the SDK's second line over ${place}, ${JSON.stringify(mode)}`, () => {
    const http = place === "HTTP" ? liveHttp() : undefined;
    let client: Client;
    let asked: string[] = [];
    let answer: (message: string) => Promise<ElicitResult>;
    const yes = async (): Promise<ElicitResult> => ({ action: "accept", content: { answer: "Yes" } });

    before(async () => {
      client = await connectSecond(
        mode,
        (message) => {
          asked.push(message);
          return answer(message);
        },
        http?.client(),
      );
    });
    after(() => client.close());
    beforeEach(() => {
      asked = [];
      answer = yes;
    });

    it("negotiates the newest revision that it offers", () => {
      expect(client.getProtocolEra()).to.equal(mode === "legacy" ? "legacy" : "modern");
      expect(client.getInstructions()).to.match(/^A live Common Lisp image/);
      expect(client.getServerVersion()).to.include({ name: "swank-mcp" });
    });

    // From here on, a connection that has found the newest revision is one that was told it.
    if (mode === "auto") return;

    it("can call every tool", async () => {
      for (const [name, args, expected] of EVERY_CALL)
        expect(await textFrom(client, name, args), `${name} ${JSON.stringify(args)}`).to.match(expected);
      const { tools } = await client.listTools();
      expect(new Set(EVERY_CALL.map(([name]) => name))).to.deep.equal(new Set(tools.map(({ name }) => name)));
      expect(asked.join("\n")).to.include("evaluate code in frame #0:\nCode: (+ 40 2)");
    });

    it("does nothing after a no", async () => {
      await evaluate(client, '(defvar *touched* "no") (error "stopped")');
      answer = async () => ({ action: "decline" });
      const args = { frame: 0, code: '(setf cl-user::*touched* "yes")' };
      const refused = await client.callTool({ name: "debugger_eval_in_frame", arguments: args });
      expect(refused.structuredContent).to.have.nested.property("error.data.type", "APPROVAL_DENIED");
      expect(asked).to.have.lengthOf(1);
      expect(await evaluate(client, "*touched*")).to.include('"no"');
    });

    it("receives progress", async () => {
      const heard: string[] = [];
      const code = '(progn (format t "half way~%") (finish-output) (sleep 1.2) :done)';
      const result = await client.callTool(
        { name: "evaluate-lisp", arguments: { code } },
        { onprogress: ({ message }) => heard.push(message ?? "") },
      );
      expect(blocks(result).join("\n")).to.include("=> :DONE");
      expect(heard).to.include("half way");
    });

    it("ends a cancelled evaluation in the image", async () => {
      const controller = new AbortController();
      const code = "(progn (defvar *unwound* nil) (unwind-protect (sleep 60) (setf *unwound* t)))";
      const call = client.callTool({ name: "evaluate-lisp", arguments: { code } }, { signal: controller.signal });
      const failed = call.then(
        () => "answered",
        () => "cancelled",
      );
      await setTimeout(500);
      controller.abort();
      expect(await failed).to.equal("cancelled");
      while (!(await evaluate(client, "*unwound*")).includes("=> T")) await setTimeout(50);
    });

    it("withdraws a cancelled call's question", async () => {
      await evaluate(client, '(error "stopped again")');
      const controller = new AbortController();
      answer = async () => {
        controller.abort();
        return yes();
      };
      const args = { frame: 0, code: '(setf cl-user::*touched* "cancelled")' };
      const call = client.callTool({ name: "debugger_eval_in_frame", arguments: args }, { signal: controller.signal });
      expect(
        await call.then(
          () => "answered",
          () => "cancelled",
        ),
      ).to.equal("cancelled");
      expect(await evaluate(client, "*touched*")).to.include('"no"');
    });
  });
}

describe("the client of the SDK's first line", () => {
  const http = liveHttp();

  for (const place of ["stdio", "HTTP"])
    it(`can call every tool over ${place}`, async () => {
      const yes: UserAnswer = async () => ({ action: "accept", content: { answer: "Yes" } });
      const client = await connectFirst(yes, place === "HTTP" ? http.client() : undefined);
      for (const [name, args, expected] of EVERY_CALL)
        expect(await textFrom(client, name, args), `${name} ${JSON.stringify(args)}`).to.match(expected);
      await client.close();
    });

  for (const place of ["stdio", "HTTP"])
    it(`withdraws its first question over ${place}, when the call has been cancelled`, async () => {
      const cancelling = new AbortController();
      let note = (_: AbortSignal) => {};
      const asked = new Promise<AbortSignal>((resolve) => {
        note = resolve;
      });
      const never: UserAnswer = (_, signal) => {
        note(signal);
        return new Promise(() => undefined);
      };
      const client = await connectFirst(never, place === "HTTP" ? http.client() : undefined);
      await textFrom(client, "evaluate-lisp", { code: '(error "asks")' });
      const call = { name: "debugger_eval_in_frame", arguments: { frame: 0, code: "1" } };
      const calling = client.callTool(call, undefined, { signal: cancelling.signal }).catch(() => undefined);
      const signal = await asked;
      cancelling.abort();
      if (!signal.aborted) await once(signal, "abort");
      await calling;
      await client.close();
    });
});
