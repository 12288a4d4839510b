import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import { EVERY_CALL } from "../../support/every-call.js";
import { liveFolder, liveSwank } from "../../support/live-server.js";
import { PipedConsole } from "../../support/mcp-console.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const READERS = [
  "describe-last-error",
  "get-backtrace",
  "describe-symbol",
  "list-definitions",
  "lisp-status",
  "debugger_frames",
  "debugger_frame_locals",
  "debugger_restarts",
  "breakpoint_list",
  "outline",
  "show-source",
  "apropos-search",
  "search-source",
  "list-changes",
  "find-references",
  "class-info",
  "list-threads",
  "inspect-object",
  "heap",
];

const listing = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), annotations: z.looseObject({ readOnlyHint: z.boolean() }) })),
});
const stopped = z.looseObject({ stopped: z.array(z.looseObject({ thread: z.string() })) });
const variables = z.looseObject({
  locals: z.array(z.looseObject({ name: z.string(), object_id: z.number().optional() })),
});

/** Everything that a call could have changed in the image. */
const STATE = `(list (boundp 'cl-user::*touched*) (fboundp 'cl-user::shaky) (fboundp 'cl-user::sound)
  (funcall (intern "F" :cl-user) 1) (package-name (sb-ext:symbol-global-value '*package*)))`;

describe("swank-mcp --read-only", function () {
  this.timeout(300_000);
  const lisp = liveSwank();
  const folder = liveFolder("read-only");
  let writer: McpStdio;
  let reader: McpStdio;

  async function start(...args: readonly string[]): Promise<McpStdio> {
    const server = new McpStdio(["--attach", String(lisp.port), ...args], { capabilities: { elicitation: {} } });
    await server.initialize();
    return server;
  }

  before(async () => {
    writer = await start("--approval", "off");
    await writer.evaluate("(defun f (x) (list x))");
    reader = await start("--read-only");
  });
  after(async () => {
    for (const server of [writer, reader]) await server.close();
  });

  async function refusalOf(name: string, args: object): Promise<unknown> {
    const { structuredContent } = await reader.call(name, args);
    return structuredContent?.["error"];
  }

  it("lists only tools that read, and says so in their annotations", async () => {
    const { tools } = listing.parse(await reader.request("tools/list"));
    expect(tools.map(({ name }) => name)).to.deep.equal(READERS);
    expect(tools.filter(({ annotations }) => !annotations.readOnlyHint)).to.deep.equal([]);
  });

  it("refuses every call of every other tool where tools are run, without asking the user, and changes nothing", async () => {
    const before = await writer.evaluate(STATE);
    const others = EVERY_CALL.filter(([name]) => !READERS.includes(name));
    expect(new Set(others.map(([name]) => name)).size).to.be.above(15);
    for (const [name, args] of others)
      expect(await refusalOf(name, args), name).to.have.nested.property("data.type", "READ_ONLY");
    expect(reader.notifications.filter(({ method }) => method === "elicitation/create")).to.deep.equal([]);
    expect(await writer.evaluate(STATE)).to.deep.equal(before);
  });

  it("refuses arguments that carry code, with a message that says what to do", async () => {
    for (const [name, args] of [
      ["inspect-object", { object: "(defvar *touched* 1)" }],
      ["inspect-object", { object: "*touched*", frame: 0 }],
      ["heap", { mode: "growth", code: "(defvar *touched* 1)" }],
      ["heap", { mode: "path", object: "(defvar *touched* 1)" }],
      ["macroexpand-form", { code: "(list #.(defvar cl-user::*touched* 1))" }],
    ] as const) {
      const refusal = await refusalOf(name, args);
      expect(refusal, name).to.have.property("message", `${name} would do more than read, which --read-only forbids.`);
      expect(refusal)
        .to.have.nested.property("data.next")
        .that.matches(/Use the tools in tools\/list.*tell the user/);
    }
    expect((await writer.evaluate("(boundp '*touched*)"))[0]).to.equal("=> NIL");
  });

  it("evaluates nothing in names, either", async () => {
    const evil = "#.(defvar cl-user::*touched* 1)";
    for (const [name, args] of [
      ["describe-symbol", { name: evil }],
      ["describe-symbol", { name: "print-object", arguments: [evil, "(defvar cl-user::*touched* 1)"] }],
      ["describe-symbol", { name: "car", package: evil }],
      ["show-source", { name: `(method print-object ((eql ${evil}) t))` }],
      ["find-references", { name: `(setf ${evil})`, mode: "callers" }],
      ["class-info", { name: "print-object", arguments: [evil, evil] }],
      ["class-info", { name: evil }],
      ["apropos-search", { pattern: evil }],
      ["list-threads", { name: evil }],
    ] as const)
      await reader.call(name, args);
    expect((await writer.evaluate("(boundp '*touched*)"))[0]).to.equal("=> NIL");
  });

  it("reads a stop of another client, with its objects, and cannot change it", async () => {
    await writer.evaluate('(defun g (state) (error "stopped in ~a" state)) (g (list :a (list :b)))');
    const { stopped: stops } = stopped.parse((await reader.call("lisp-status")).structuredContent);
    const thread = stops[0]?.thread ?? "";
    const { structuredContent } = await reader.call("debugger_frame_locals", { thread, frame: 0 });
    const state = variables.parse(structuredContent).locals.find(({ name }) => name.toLowerCase() === "state");
    const [shown] = blocks(await reader.call("inspect-object", { object: state?.object_id }));
    expect(shown, JSON.stringify(structuredContent)).to.include("(:A (:B))");
    for (const [name, args] of [
      ["debugger_eval_in_frame", { thread, frame: 0, code: "(setf state nil)" }],
      ["debugger_invoke_restart", { thread, restart: "ABORT" }],
      ["debugger_continue", { thread }],
      ["interrupt-thread", { thread: thread.split("/")[0], mode: "kill" }],
    ] as const)
      expect(await refusalOf(name, args), name).to.have.nested.property("data.type", "READ_ONLY");
    const { stopped: after } = stopped.parse((await writer.call("lisp-status")).structuredContent);
    expect(after.map((stop) => stop.thread)).to.deep.equal([thread]);
  });

  it("says in lisp-status that it only reads", async () => {
    expect((await reader.call("lisp-status")).structuredContent).to.include({ read_only: true });
    expect((await writer.call("lisp-status")).structuredContent).not.to.have.property("read_only");
  });

  it("makes the console refuse forms and commands that do more than read", async () => {
    const console = new PipedConsole(["--attach", String(lisp.port), "--read-only"]);
    console.write("(defvar *touched* 1)\n,in 0 (defvar *touched* 1)\n,describe car\n,help\n");
    const { output, code } = await console.finish();
    expect(output).to.include("would do more than read, which --read-only forbids.");
    expect(output).to.match(/CAR \[FUNCTION\]/);
    expect(output).to.include("Nothing is evaluated (--read-only).");
    expect(output).not.to.match(/^ {2},in n/m);
    expect(code).to.equal(1);
    expect((await writer.evaluate("(boundp '*touched*)"))[0]).to.equal("=> NIL");
  });

  it("launches an image with the user's files, which the agent can only read", async () => {
    const file = join(folder, "app.lisp");
    await writeFile(file, "(defun serve-users (n) (* n 2))\n");
    const own = await McpStdio.start(["--read-only", "--no-user-init", "--load", file]);
    try {
      expect(blocks(await own.call("show-source", { name: "serve-users" }))[0]).to.include(
        "(defun serve-users (n) (* n 2))",
      );
      const { structuredContent } = await own.call("evaluate-lisp", { code: "(serve-users 1)" });
      expect(structuredContent).to.have.nested.property("error.data.type", "READ_ONLY");
    } finally {
      await own.close();
    }
  });
});
