import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { allBlocks, blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { sideBySide } from "../../support/side-by-side.js";
import { TcpProxy } from "../../support/tcp-proxy.js";

/** Longest time, in milliseconds, of a call that is refused because the connection is known to be silent. */
const AT_ONCE = 3000;

const SILENT =
  /^(?:.* )?Nothing arrives on the connection to 127\.0\.0\.1:\d+, and a second connection is not answered either\.\n/;
const UNKNOWN = /suspended, hang or be very busy, or the network or a tunnel to it may be down/;

describe("half-open connection", function () {
  this.timeout(180_000);

  after(async () => (await shared)?.stop());

  sideBySide({
    "is replaced during an evaluation, and calls go on in the same image": () =>
      throughProxy(async (server, proxy) => {
        await define(server);
        proxy.stopForwarding({ forwardNew: true });
        const [lost] = blocks(await server.call("evaluate-lisp", { code: "(survivor 42)", timeout: 60 }));
        expect(lost).to.match(
          /^\[ERROR\] IMAGE-LOST\nThe connection to .* was lost: The connection was dead: nothing arrived/,
        );
        const after = await server.call("evaluate-lisp", { code: "(survivor 42)" });
        expect(allBlocks(after).join("\n"))
          .to.match(/The connection was dead/)
          .and.to.match(/=> 42/)
          .and.to.match(/same image .* over a new connection: definitions are still there/);
      }),

    "is replaced during a call that reads, which is then answered": () =>
      throughProxy(async (server, proxy) => {
        await define(server);
        proxy.stopForwarding({ forwardNew: true });
        const described = await server.call("describe-symbol", { name: "survivor" });
        expect(described.isError).to.equal(false);
        expect(allBlocks(described).join("\n"))
          .to.match(/SURVIVOR/)
          .and.to.match(/The connection was dead/);
      }),

    "is reported with what is known if a second connection is silent too, at once by later calls": () =>
      throughProxy(async (server, proxy) => {
        await define(server);
        proxy.stopForwarding();
        const first = ["describe-symbol", "class-info", "show-source"].map((tool) => timed(server, tool));
        for (const { result, time } of await Promise.all(first)) {
          expect(refusalType(result)).to.equal("IMAGE_HANGS");
          expect(blocks(result)[0]).to.match(SILENT).and.to.match(UNKNOWN);
          expect(time).to.be.below(14_000);
        }
        for (const tool of ["evaluate-lisp", "describe-symbol"]) {
          const { result, time } = await timed(server, tool);
          expect(refusalType(result)).to.equal("IMAGE_HANGS");
          expect(blocks(result)[0]).to.match(SILENT);
          expect(time).to.be.below(AT_ONCE);
        }
        const { structuredContent } = await server.call("lisp-status");
        expect(structuredContent?.["unresponsive"]).to.match(UNKNOWN);
        proxy.resume();
        expect(await server.evaluate("(survivor 42)")).to.deep.equal(["=> 42"]);
      }),

    "ends cancelled calls, and later calls say what is known once": () =>
      throughProxy(async (server, proxy) => {
        await define(server);
        proxy.stopForwarding();
        let answered = 0;
        for (const [tool, args] of CANCELLED) {
          const { id, result } = server.startCall(tool, args);
          const count = () => {
            answered += 1;
          };
          // The end of the server ends the wait, too.
          result.then(count, () => undefined);
          await pause(500);
          server.cancel(id);
        }
        await timed(server, "describe-symbol");
        for (const tool of ["describe-symbol", "evaluate-lisp"]) {
          const { result, time } = await timed(server, tool);
          expect(refusalType(result)).to.equal("IMAGE_HANGS");
          const text = allBlocks(result).join("\n");
          expect(text).to.match(SILENT).and.to.match(UNKNOWN);
          expect(text.match(/Nothing arrives/g)).to.have.lengthOf(1);
          expect(time, tool).to.be.below(AT_ONCE);
        }
        proxy.resume();
        expect(await server.evaluate("(survivor 42)")).to.deep.equal(["=> 42"]);
        // What waited in the tunnel has reached the image: the code of the cancelled evaluation, and then its end.
        await pause(4000);
        expect(await server.evaluate("(boundp 'cancelled-late)")).to.deep.equal(["=> NIL"]);
        expect((await server.call("lisp-status")).structuredContent).to.deep.include({ stopped: [] });
        expect(answered).to.equal(0);
      }),

    "is replaced as soon as a new connection is answered": () =>
      throughProxy(async (server, proxy) => {
        await define(server);
        proxy.stopForwarding();
        expect(blocks((await timed(server, "describe-symbol")).result)[0]).to.match(SILENT);
        // The tunnel works again, but has forgotten its old connections.
        proxy.stopForwarding({ forwardNew: true });
        proxy.dropNewest();
        let { result } = await timed(server, "describe-symbol");
        while (refusalType(result) === "IMAGE_HANGS") ({ result } = await timed(server, "describe-symbol"));
        expect(allBlocks(result).join("\n"))
          .to.match(/SURVIVOR/)
          .and.to.match(/The connection was dead/);
      }),

    "of a suspended image works again when the image continues, and the image accepts clients": async () => {
      const lisp = await startRealSwank();
      const server = await McpStdio.start(["--attach", String(lisp.port)]);
      await define(server);
      lisp.process.kill("SIGSTOP");
      const { result } = await timed(server, "describe-symbol");
      expect(blocks(result)[0]).to.match(SILENT).and.to.match(UNKNOWN);
      const again = await timed(server, "evaluate-lisp");
      expect(refusalType(again.result)).to.equal("IMAGE_HANGS");
      expect(again.time).to.be.below(AT_ONCE);
      lisp.process.kill("SIGCONT");
      expect(await server.evaluate("(survivor 42)")).to.deep.equal(["=> 42"]);
      const other = await McpStdio.start(["--attach", String(lisp.port)]);
      expect(await other.evaluate("(survivor 1)")).to.deep.equal(["=> 1"]);
      await other.end();
      expect(await server.evaluate("(survivor 2)")).to.deep.equal(["=> 2"]);
      server.process.kill("SIGKILL");
      await Promise.all([server.exited, lisp.stop()]);
    },
  });
});

/** Calls of each kind that are cancelled: an evaluation, a call that reads, and one that loads code first. */
const CANCELLED = [
  ["evaluate-lisp", { code: "(progn (sleep 3) (setf (symbol-value 'cancelled-late) t))" }],
  ["describe-symbol", { name: "survivor" }],
  ["load-system", { system: "uiop" }],
] as const;

const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "evaluate-lisp": { code: "(survivor 42)" },
  "class-info": { name: "standard-object" },
};

/** Calls a tool, and returns the milliseconds that it took. */
async function timed(server: McpStdio, tool: string) {
  const begin = performance.now();
  const result = await server.call(tool, ARGUMENTS[tool] ?? { name: "survivor" });
  return { result, time: performance.now() - begin };
}

/** Defines a function, which also loads the runtime. */
async function define(server: McpStdio): Promise<void> {
  expect(await server.evaluate("(setf (symbol-function 'survivor) #'identity) 1", { timeout: 120 })).to.deep.equal([
    "=> 1",
  ]);
}

/** The image of the tests that stop a proxy. It is made once, because loading the runtime takes seconds. */
let shared: Promise<RealSwank> | undefined;

async function throughProxy(test: (server: McpStdio, proxy: TcpProxy) => Promise<void>): Promise<void> {
  shared ??= startRealSwank();
  const lisp = await shared;
  const proxy = await TcpProxy.to(lisp.port);
  const server = await McpStdio.start(["--attach", String(proxy.port)]);
  try {
    await test(server, proxy);
  } finally {
    server.process.kill("SIGKILL");
    await server.exited;
    await proxy.close();
  }
}
