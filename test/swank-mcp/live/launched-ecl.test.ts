import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, ElicitResult } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { HttpServer } from "../../support/http-server.js";
import { McpHttp } from "../../support/mcp-http.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { connectSecond } from "../../support/official-clients.js";
import { ServerProcess } from "../../support/server-process.js";

const ECL = ["--lisp", "ecl", "--no-user-init"];

/** The tools that no answer may name. */
const UNUSABLE =
  /(?<![\w-])(?:debugger_step|inspect-object|list-definitions|find-references|show-source|heap)(?![\w-])/;

describe("swank-mcp --lisp ecl", () => {
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "launched-ecl-"));
    await writeFile(join(folder, "loaded.lisp"), "(defvar *loaded* 7)");
    server = await McpStdio.start([...ECL, "--load", join(folder, "loaded.lisp")]);
  });

  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it("launches ECL, loads the user's files, and tells the client which tools there are", async () => {
    expect(await server.evaluate("(list (lisp-implementation-type) *loaded*)")).to.deep.equal(['=> ("ECL" 7)']);
    await server.notified("notifications/tools/list_changed");
    expect(JSON.stringify(await server.request("tools/list")))
      .to.include('"compile-code"')
      .and.not.match(UNUSABLE);
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.include({ image: "own", implementation: "ECL" });
    expect(structuredContent).to.have.property("cannot").that.includes("stepping");
  });

  it("reports an error with its variables, evaluates in its frame, and goes on through a restart", async () => {
    await server.evaluate("(defun share (sum people) (restart-case (/ sum people) (use-value (v) v)))");
    const report = (await server.evaluate("(list (share 7 0))")).join("\n");
    expectFacts(report, "[ERROR] DIVISION-BY-ZERO", "Operation was (/ 7 0).", "1. USE-VALUE", "SUM = 7");
    const [evaluated] = (await server.call("debugger_eval_in_frame", { frame: 0, code: "(list sum people)" })).content;
    expect(evaluated).to.have.property("text", "=> (7 0)");
    const [resumed] = (await server.call("debugger_invoke_restart", { restart: 1, values: ["42"] })).content;
    expect(resumed).to.have.property("text", "=> (42)");
  });

  it("reports what the compiler says", async () => {
    const [notes] = (await server.call("compile-code", { code: "(defun f (x) (car 1 2))" })).content;
    expect(notes)
      .to.have.property("text")
      .that.includes("ERROR: Wrong number of arguments for function CAR")
      .and.includes("The variable X is not used.");
  });

  it("names no tool in its answers that ECL cannot serve", async () => {
    const answers = [
      await server.evaluate('(error "stop here")'),
      await server.evaluate("(make-array 100000)"),
      await server.evaluate("(loop)", { timeout: 0.5 }),
    ].flat();
    for (const [name, args] of [
      ["describe-symbol", { name: "share" }],
      ["describe-symbol", { name: "shore" }],
      ["apropos-search", { pattern: "mapc" }],
      ["debugger_frames", {}],
      ["describe-last-error", {}],
      ["get-backtrace", {}],
      ["list-threads", {}],
      ["inspect", {}],
      ["reset-session", { "stops-only": true }],
    ] as const) {
      const { content } = await server.call(name, args);
      for (const block of content) if ("text" in block) answers.push(block.text);
    }
    for (const text of answers) expect(text).to.not.match(UNUSABLE);
  });

  it("replaces the image at a reset, and after it has ended", async () => {
    const [text] = (await server.call("reset-session")).content;
    expect(text)
      .to.have.property("text")
      .that.includes("Session reset. A fresh image")
      .and.includes("not those of ECL");
    expect((await server.evaluate("(ext:quit 3)")).join("\n")).to.include("ended with exit code 3");
    const [value] = await server.evaluate("(+ 1 2)");
    expect(value).to.equal("=> 3");
  });

  it("takes the program from the environment, and says which options only SBCL has", async () => {
    const other = await McpStdio.start(["--dynamic-space-size", "512"], { SWANK_MCP_LISP: "ecl" });
    const [refused] = await other.evaluate("1");
    expectFacts(
      refused ?? "",
      "Only SBCL can be launched with dynamicSpaceSize",
      "Start swank-mcp without --dynamic-space-size",
    );
    await other.close();
  });

  it("tells the client of another list when the next image can do more", async () => {
    const lisp = join(folder, "my-lisp");
    const become = (name: string) => writeFile(lisp, `#!/bin/sh\nexec ${name} "$@"\n`, { mode: 0o755 });
    await become("ecl");
    const other = await McpStdio.start(["--no-user-init", "--no-core"], { SBCL: lisp });
    try {
      await other.evaluate("1");
      await other.notified("notifications/tools/list_changed");
      expect(JSON.stringify(await other.request("tools/list"))).to.not.match(UNUSABLE);
      await become("sbcl");
      other.notifications.splice(0);
      await other.call("reset-session");
      await other.notified("notifications/tools/list_changed");
      expect(JSON.stringify(await other.request("tools/list"))).to.match(UNUSABLE);
    } finally {
      await other.close();
    }
  });

  it("launches one for the console, too", async () => {
    const program = new ServerProcess(["console", ...ECL]);
    let output = "";
    program.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    program.process.stdin.end("(lisp-implementation-type)\n");
    await program.exited;
    expect(output).to.include('"ECL"');
  });

  it("serves several agents over HTTP, each with a session of its own", async () => {
    const http = await HttpServer.start(ECL);
    try {
      const agents = await Promise.all([McpHttp.start(http.client("one")), McpHttp.start(http.client("two"))]);
      const pids = await Promise.all(agents.map((agent) => agent.imagePid()));
      expect(new Set(pids).size).to.equal(1);
      await agents[0].evaluate('(defpackage "ONE" (:use "CL")) (in-package "ONE")');
      const packages = await Promise.all(agents.map((agent) => agent.evaluate("(package-name *package*)")));
      expect(packages.map(([text]) => text)).to.deep.equal(['=> "ONE"', '=> "COMMON-LISP-USER"']);
      await Promise.all(agents.map((agent) => agent.close()));
    } finally {
      await http.close();
    }
  });
});

describe("the list of tools on ECL, for a client of revision 2026-07-28", () => {
  const ask = async (): Promise<ElicitResult> => ({ action: "decline" });

  async function hearsOfChange(client: Client): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    await client.listen({ toolsListChanged: true });
    expect(await client.listTools()).to.include({ ttlMs: 0 });
    await client.callTool({ name: "evaluate-lisp", arguments: { code: "1" } });
    await changed;
  }

  it("is announced on stdio to one that listens", async () => {
    const client = await connectSecond({ pin: "2026-07-28" }, ask, ECL);
    await hearsOfChange(client);
    await client.close();
  });

  it("is announced over HTTP to one that listens", async () => {
    const http = await HttpServer.start(ECL);
    try {
      const client = await connectSecond({ pin: "2026-07-28" }, ask, http.client());
      await hearsOfChange(client);
      await client.close();
    } finally {
      await http.close();
    }
  });
});
