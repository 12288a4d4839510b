import { expect } from "chai";
import { openSession, readConfig, type ToolAnswer, type ToolServer } from "swank-mcp";
import { liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const QUESTIONS: readonly (readonly [name: string, args: object])[] = [
  ["describe-symbol", { name: "car" }],
  ["list-definitions", {}],
  ["breakpoint_set", { function: "asked" }],
  ["breakpoint_set", { function: "asked", thread: "1" }],
  ["breakpoint_list", {}],
  ["breakpoint_remove", { id: 1000 }],
];

describe("cancelling a request to a hung image", () => {
  const lisp = liveSwank({ each: true });
  let tools: ToolServer;

  const call = (name: string, args: object, signal = new AbortController().signal): Promise<ToolAnswer> =>
    tools.call({ name, args, signal, progress: () => {} });

  beforeEach(async () => {
    const args = ["--attach", String(lisp.port), "--approval", "off"];
    tools = toolServer(
      openSession(readConfig(args, {}), () => {}),
      args,
    );
    await call("evaluate-lisp", { code: "(defun asked () 1)" });
  });
  afterEach(() => closeServer(tools));

  async function cancelAll(): Promise<void> {
    lisp.process.kill("SIGSTOP");
    for (const [name, args] of QUESTIONS) {
      const controller = new AbortController();
      const answer = call(name, args, controller.signal);
      setImmediate(() => controller.abort());
      const { blocks, structured } = await answer;
      expect(structured, name).to.have.nested.property("error.data.type", "CANCELLED");
      expect(blocks.join("\n"), name)
        .to.match(/cancelled/i)
        .and.not.to.match(/\n|None is needed|Nothing needs/);
    }
    lisp.process.kill("SIGCONT");
  }

  it("leaves the image usable if a runtime module had not been loaded", async () => {
    await cancelAll();
    expect((await call("describe-symbol", { name: "asked" })).blocks[0]).to.match(
      /^COMMON-LISP-USER::ASKED \[FUNCTION\]/,
    );
  });

  it("leaves the image usable if everything had been loaded", async () => {
    for (const [name, args] of QUESTIONS) await call(name, args);
    await cancelAll();
    expect((await call("breakpoint_list", {})).isError).to.equal(false);
  });
});

/** Number of calls that the server runs at the same time. */
const MOST = 256;

describe("swank-mcp at its limit of running calls", () => {
  it("answers pings and resets the session immediately while another call waits", async () => {
    const server = await McpStdio.start(["--approval", "off"]);
    const first = await server.imagePid();
    const sleeping = Array.from({ length: MOST }, () => server.evaluate("(sleep 600)", { timeout: 700 }));
    const waiting = server.evaluate("'served");
    expect(await server.request("ping", {})).to.deep.equal({});
    expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\. A fresh image/);
    for (const [answer] of await Promise.all(sleeping)) expect(answer).to.match(/reset/);
    expect(await waiting).to.deep.equal(["=> SERVED"]);
    expect(await server.imagePid()).to.not.equal(first);
    expect((await server.end()).code).to.equal(0);
  });
});
