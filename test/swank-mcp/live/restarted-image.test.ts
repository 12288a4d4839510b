import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("swank-mcp --attach to an image restarted on the same port", () => {
  let lisp: RealSwank;
  let server: McpStdio;

  beforeEach(async () => {
    lisp = await startRealSwank();
    server = await McpStdio.start(["--attach", String(lisp.port)]);
  });

  afterEach(async () => {
    await server.end();
    await lisp.stop();
  });

  async function restart(): Promise<void> {
    await lisp.stop();
    lisp = await startRealSwank(undefined, lisp.port);
  }

  it("reconnects with a notice at the next call, and keeps only the last error of the old image", async () => {
    const oldPid = lisp.process.pid;
    await server.evaluate("(defun ri-half (n) (/ n 2))");
    const set = await server.call("breakpoint_set", { function: "ri-half" });
    expect(set.structuredContent).to.include({ state: "armed" });
    const [, next] = await server.evaluate('(error "of the old image")');
    const thread = /thread (\d+\/1)/.exec(next ?? "")?.[1];
    const { structuredContent } = await server.call("debugger_frame_locals", { frame: 0 });
    expect(structuredContent).to.have.property("locals");
    const remembered = blocks(await server.call("describe-last-error"));

    await restart();
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal(remembered);
    const status = await server.call("lisp-status");
    expect(status.structuredContent).to.include({ pid: lisp.process.pid }).and.deep.include({ stopped: [] });
    expect(status.structuredContent)
      .to.have.nested.property("notices[0]")
      .that.matches(
        new RegExp(
          `^The connection to 127\\.0\\.0\\.1:${lisp.port} was lost: .* This answer comes from a new image \\(pid ${lisp.process.pid}\\): definitions of the previous image are gone\\. `,
        ),
      );
    expect(lisp.process.pid).to.not.equal(oldPid);
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal(remembered);
    expect((await server.call("breakpoint_list")).structuredContent).to.deep.equal({ breakpoints: [] });
    expect((await server.call("debugger_frames", { thread })).isError).to.equal(true);
    expect((await server.evaluate("(swank-objects:ref 1)"))[0]).to.match(/^\[ERROR\] /);
    expect((await server.evaluate("(ri-half 4)"))[0]).to.match(/\[ERROR\] UNDEFINED-FUNCTION\n/);
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });
});
