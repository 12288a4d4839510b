import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connect } from "swank-client";
import { findLisp, findSwank } from "swank-client/launch";
import { BesideEmacs, freePort } from "../support/beside-emacs.js";
import { Emacs } from "../support/emacs.js";
import { COMPILED } from "../support/emacs-process.js";
import { refusalType } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { fencedBlocks } from "../support/page.js";

const THREADS = "(sort (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) #'string<)";

describe("docs/emacs.md", function () {
  this.timeout(200_000);

  it("has a form for Emacs's configuration that opens the port in a Lisp that Emacs starts", async () => {
    const port = await freePort();
    const [hook] = await blocksFor("elisp", port);
    const emacs = await Emacs.start();
    const agent = await McpStdio.start(["--attach", String(port)]);
    try {
      await emacs.eval(`(progn ${hook})`);
      const pid = await emacs.startLisp();
      // The port opens when the Lisp evaluates the form, for which Emacs does not wait.
      while (refusalType(await agent.call("lisp-status")) === "LISP_UNREACHABLE");
      expect(await agent.imagePid()).to.equal(pid);
      // The hook also runs for this connection, and has nothing to do.
      await emacs.connect(port);
      expect(await emacs.debuggerBuffers()).to.deep.equal([]);
      expect(await emacs.evaluateInRepl("(* 6 7)")).to.equal("42");
    } finally {
      await Promise.all([agent.end(), emacs.kill()]);
    }
  });

  it("has a form for Emacs's configuration that names the Lisp that has the port when a second one starts", async () => {
    const port = await freePort();
    const [hook] = await blocksFor("elisp", port);
    const emacs = await Emacs.start();
    try {
      await emacs.eval(`(progn ${hook})`);
      const pid = await emacs.startLisp();
      await emacs.until("agents-lisp", "a Lisp with the port");
      await emacs.startLisp();
      expect(await emacs.messageMatching("Agents cannot join")).to.match(
        new RegExp(`^Agents cannot join sbcl<2>: .*in use.*\\. sbcl, process ${pid}, has port ${port}\\.$`, "i"),
      );
    } finally {
      await emacs.kill();
    }
  });

  it("has a form for Emacs's configuration that reports a port in use by another program", async () => {
    const port = await freePort();
    const other = createServer().listen(port, "127.0.0.1");
    const [hook] = await blocksFor("elisp", port);
    const emacs = await Emacs.start();
    try {
      await emacs.eval(`(progn ${hook})`);
      await emacs.startLisp();
      expect(await emacs.messageMatching("Agents cannot join")).to.match(
        new RegExp(`in use.*\\. A program outside this Emacs \\(ss -ltnp names it\\) has port ${port}\\.$`, "i"),
      );
    } finally {
      await emacs.kill();
      other.close();
    }
  });

  it("has a function for ~/.sbclrc that opens the port in a Lisp without Emacs", async () => {
    const [, share = ""] = await blocksFor("lisp", 4005);
    const port = await freePort();
    const home = await mkdtemp(join(tmpdir(), "sbclrc-"));
    const lisp = await startLisp(home, share);
    try {
      lisp.stdin.write(`(share ${port})\n(values)\n`);
      let client = await connect({ port }).catch(() => undefined);
      while (client === undefined) client = await connect({ port }).catch(() => undefined);
      expect(client.info.pid).to.equal(lisp.pid);
      await client.close();
    } finally {
      lisp.kill("SIGKILL");
      await once(lisp, "close");
      await rm(home, { recursive: true });
    }
  });

  it("has a function for ~/.sbclrc that reports a port in use by another program", async () => {
    const [, share = ""] = await blocksFor("lisp", 4005);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const home = await mkdtemp(join(tmpdir(), "sbclrc-"));
    // Called in the file itself, where an error would keep the Lisp from reaching its prompt.
    const lisp = await startLisp(home, `${share}\n(share ${port})`);
    try {
      let said = "";
      lisp.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      lisp.stdin.end("(sb-ext:exit :code 7)\n");
      expect(await once(lisp, "close")).to.deep.equal([7, null]);
      expect(said)
        .to.match(/Nobody can join this Lisp: .*in use/i)
        .and.include(`the process that has port ${port}.`);
    } finally {
      lisp.kill("SIGKILL");
      other.close();
      await rm(home, { recursive: true });
    }
  });

  it("has forms that disconnect all agents permanently, and no other client", async () => {
    const user = await BesideEmacs.startedByEmacs();
    try {
      const { emacs, port } = user;
      const before = await emacs.evaluateInRepl(THREADS);
      const agent = await user.agent();
      await agent.evaluate('(error "stopped")');
      const running = agent.call("evaluate-lisp", { code: "(loop (sleep 0.1))" });
      const forms = (await blocksFor("lisp", port)).at(-1);
      expect(await emacs.evaluateInRepl(`(progn ${forms})`)).to.match(/NIL$/);
      expect((await running).isError).to.equal(true);
      expect(refusalType(await agent.call("evaluate-lisp", { code: "1" }))).to.equal("LISP_UNREACHABLE");
      const left = before.replace(/"Swank \d+"\s*/, "");
      const names = (text: string) => text.match(/"[^"]*"/g);
      while (names(await emacs.evaluateInRepl(THREADS))?.join() !== names(left)?.join());
      expect(await emacs.evaluateInRepl("(* 6 7)")).to.equal("42");
    } finally {
      await user.end();
    }
  });

  it("shows a lisp-status whose every key exists", async () => {
    const [sample = ""] = await fencedBlocks("emacs.md", "json");
    const user = await BesideEmacs.startedByEmacs();
    try {
      const agent = await user.agent();
      await agent.evaluate('(error "x")');
      expect((await agent.call("lisp-status")).structuredContent).to.include.keys(Object.keys(JSON.parse(sample)));
    } finally {
      await user.end();
    }
  });
});

/** Returns the page's code blocks with another port, because the machine's user may use 4005. */
async function blocksFor(language: string, port: number): Promise<string[]> {
  return (await fencedBlocks("emacs.md", language)).map((block) => block.replaceAll("4005", String(port)));
}

/** Starts a Lisp at its prompt, like `sbcl` in a terminal. */
async function startLisp(home: string, initFile: string) {
  await writeFile(join(home, ".sbclrc"), initFile);
  // Compiled Swank is kept between runs of the tests, as on a user's machine.
  for (const folder of [".slime", ".cache"]) {
    await mkdir(join(COMPILED, folder), { recursive: true });
    await symlink(join(COMPILED, folder), join(home, folder));
  }
  const { executable } = await findLisp();
  const folder = await findSwank();
  const environment = {
    ...process.env,
    HOME: home,
    XDG_CACHE_HOME: join(home, ".cache"),
    CL_SOURCE_REGISTRY: `${folder}:`,
  };
  return spawn(executable, ["--noinform", "--no-sysinit"], { stdio: ["pipe", "ignore", "pipe"], env: environment });
}
