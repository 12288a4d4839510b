import { link, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { brokenCall } from "../../support/broken-call.js";
import { liveFolder, liveSwank } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { SECRET_FILE } from "../../support/usual-server.js";

/** The secret that Swank requires. */
const SECRET = "open-sesame-7391";
/** A secret of the user's program. */
const PRIVATE = "private-4711";

/** Returns the lines of a log without their time and process id. */
function lines(log: string): string[] {
  return log
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z \d+ /, ""))
    .map((line) => line.replace(/\d+ ms$/, "N ms"));
}

describe("swank-mcp log", () => {
  const folder = liveFolder("swank-mcp-log");
  let lisp: RealSwank;
  before(async () => {
    await writeFile(join(folder, SECRET_FILE), `${SECRET}\n`, { mode: 0o600 });
    lisp = await startRealSwank(folder);
  });
  after(() => lisp.stop());

  function options(file: string): string[] {
    const secretFile = join(folder, SECRET_FILE);
    return ["--attach", String(lisp.port), "--secret-file", secretFile, "--approval", "off", "--log-file", file];
  }

  it("contains the start, the client, each call with its outcome and duration, and the end", async () => {
    const file = join(folder, "calls");
    const server = await McpStdio.start(options(file));
    await server.evaluate("(+ 1 2)");
    await server.evaluate('(cerror "Go on." "wrong")');
    await server.call("debugger_frame_locals", { frame: 10_000 });
    await server.call("debugger_continue");
    await server.call("no\nsuch");
    await server.end();
    const log = lines(await readFile(file, "utf8"));
    expect(log.filter((line) => !line.startsWith("connect") && !line.startsWith("the connection"))).to.deep.equal([
      log[0],
      "client: test 0",
      "call evaluate-lisp: returned, N ms",
      "call evaluate-lisp: stopped, N ms",
      "call debugger_frame_locals: INVALID_FRAME, N ms",
      "call debugger_continue: returned, N ms",
      'call "no\\nsuch": UNKNOWN_TOOL, N ms',
      "ending: the input ended",
    ]);
    expect(log[0]).to.match(/^swank-mcp \d+\.\d+\.\d+, Node v[\d.]+: serve, attached to 127\.0\.0\.1 \d+$/);
  });

  it("goes to standard error as well with --verbose", async () => {
    const file = join(folder, "verbose");
    const server = await McpStdio.start([...options(file), "--verbose"]);
    await server.evaluate("1");
    await server.end();
    expect(server.errorText).to.equal(await readFile(file, "utf8"));
  });

  it("contains no secrets, code, input, output or answers", async () => {
    const file = join(folder, "secrets");
    const server = await McpStdio.start([...options(file), "--verbose"]);
    await server.evaluate(`(defvar *key* "${PRIVATE}") (print *key*) (list *key* (read-line))`, { stdin: PRIVATE });
    await server.evaluate(`(restart-case (error "~a" *key*) (use (it) it))`);
    await server.call("debugger_invoke_restart", { restart: "USE", values: [`(string "${PRIVATE}")`] });
    await server.call("debugger_frames", { thread: PRIVATE });
    await server.end();
    const log = await readFile(file, "utf8");
    expect(log).to.include("call debugger_invoke_restart: returned");
    for (const word of [SECRET, PRIVATE]) expect(log).not.to.include(word);
  });

  it("contains the stack of an unexpected error once", async () => {
    const file = join(folder, "defect");
    const server = await McpStdio.start(options(file), brokenCall());
    await server.call("lisp-status");
    await server.end();
    const log = await readFile(file, "utf8");
    expect(log).to.match(/ defect: TypeError: find is broken\n {4}at [\s\S]*swank-mcp\.cjs/);
    expect(log.match(/find is broken/g)).to.have.length(1);
    expect(log).to.match(/ call lisp-status: INTERNAL_ERROR, \d+ ms\n/);
  });

  it("contains the launch and the loss of an image", async () => {
    const file = join(folder, "launch");
    const server = await McpStdio.start(["--log-file", file]);
    const pid = await server.imagePid();
    process.kill(pid, "SIGKILL");
    await server.evaluate("1");
    const next = await server.imagePid();
    await server.end();
    const log = lines(await readFile(file, "utf8"));
    const launched = log.filter((line) => line.startsWith("launched"));
    expect(launched).to.have.length(2);
    expect(launched[0]).to.match(new RegExp(`^launched SBCL \\S+, pid ${pid}, (from a( new)? core|without a core)$`));
    expect(launched[1]).to.include(`, pid ${next}, `);
    expect(log).to.include(
      `the connection to the image with pid ${pid} was lost: The image (pid ${pid}) was killed by SIGKILL.`,
    );
  });

  it("contains the reason for the end of a console, too", async () => {
    const file = join(folder, "console");
    const server = new McpStdio(["console", ...options(file)]);
    while (!(await readFile(file, "utf8").catch(() => "")).includes(": console, ")) await setTimeout(20);
    server.process.kill("SIGTERM");
    expect((await server.exited).code).to.equal(143);
    expect(lines(await readFile(file, "utf8")).at(-1)).to.equal("ending: SIGTERM");
  });
});

const REMEDY = "Name a file that you can write, in a folder that exists, with --log-file.";

/** Starts and ends a server, and returns its standard error. */
async function serve(file: string): Promise<string> {
  const server = new McpStdio(["--log-file", file]);
  expect((await server.end()).code).to.equal(0);
  return server.errorText;
}

async function mode(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

describe("swank-mcp --log-file", () => {
  const folder = liveFolder("swank-mcp-log-file", { each: true });
  const file = join(folder, "log");

  it("creates a file that only its owner can read", async () => {
    expect(await serve(file)).to.equal("");
    expect(await mode(file)).to.equal("600");
  });

  it("appends to an existing file and removes other users' access", async () => {
    await writeFile(file, "before\n", { mode: 0o644 });
    expect(await serve(file)).to.equal("");
    expect(await mode(file)).to.equal("600");
    expect(await readFile(file, "utf8")).to.match(/^before\n[^\n]* swank-mcp [^\n]*\n/);
  });

  it("refuses a symbolic link and a file with a second hard link, with the reason on standard error", async () => {
    const other = join(folder, "other");
    await writeFile(other, "", { mode: 0o644 });
    await symlink(other, file);
    expect(await serve(file)).to.equal(
      `swank-mcp: the log cannot be written: ${file} is a symbolic link, which is not followed. Name the file itself with --log-file.\n`,
    );
    await rm(file);
    await link(other, file);
    expect(await serve(file)).to.equal(
      `swank-mcp: the log cannot be written: ${file} has more than one hard link. ${REMEDY}\n`,
    );
    expect([await readFile(other, "utf8"), await mode(other)]).to.deep.equal(["", "644"]);
  });

  it("says what to name instead when the file cannot be opened", async () => {
    const missing = join(folder, "missing", "log");
    expect(await serve(missing))
      .to.match(/^swank-mcp: the log cannot be written: ENOENT: [^\n]*\n$/)
      .and.to.include(`'${missing}'. ${REMEDY}\n`);
  });
});

/** Makes the runtime call a function that fails after each evaluation, with a text of the program. */
const BREAK_RETURNING = `(loop for package in (list-all-packages)
  for hooks = (and (eql 0 (search "SWANK-CLIENT/EVALUATIONS" (package-name package))) (find-symbol "*RETURN-HOOKS*" package))
  when hooks do (push (lambda (&rest arguments) (declare (ignore arguments)) (error "~a ~d" "private-4711" 7)) (symbol-value hooks)))`;

describe("Faults of the runtime in swank-mcp", () => {
  const folder = liveFolder("swank-mcp-faults");
  const lisp = liveSwank();
  before(() => void lisp.expectedFaults.push(/SIMPLE-ERROR/));

  it("are counted by lisp-status, and logged once without strings of the program", async () => {
    const file = join(folder, "log");
    const server = await McpStdio.start(["--attach", String(lisp.port), "--approval", "off", "--log-file", file]);
    expect((await server.call("lisp-status")).structuredContent).not.to.have.property("faults");
    await server.evaluate(BREAK_RETURNING);
    await server.evaluate("(+ 1 2)");
    const { faults } = (await server.call("lisp-status")).structuredContent ?? {};
    expect(faults).to.match(/^(?:1 internal fault was|2 internal faults were) recorded \(see the log\)\.$/);
    await server.call("lisp-status");
    await server.end();
    const log = await readFile(file, "utf8");
    expect(log.match(/internal fault 1, .*: SIMPLE-ERROR in .*: a [A-Z:-]+ 7$/gm)).to.have.lengthOf(1);
    expect(log).to.not.include("private-4711");
  });
});
