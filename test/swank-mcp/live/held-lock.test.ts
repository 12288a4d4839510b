import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { list, NIL, read, symbol } from "sexp-parser";
import { type Connection, openConnection, tcpOpener } from "swank-client/protocol";
import { allBlocks, blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { sideBySide } from "../../support/side-by-side.js";
import { forUsualServer } from "../../support/usual-server.js";

const DEFINITIONS = `
(defclass locked () ((name :reader locked-name)) (:documentation "A class."))
(defgeneric lock (it))
(defmethod lock ((it locked)) it)
(defmacro locking (form) \`(progn ,form))
(defun hold () (sb-c::with-world-lock () (error "held")))`;

/** Milliseconds that loading the modules may take on a busy machine. */
const COMPILING = 600_000;

/** Calls that need nothing compiled, and what their answers begin with. */
const ANSWERED = [
  ["describe-symbol", { name: "locked" }, /^COMMON-LISP-USER::LOCKED \[CLASS\]\n/],
  ["show-source", { name: "lock" }, /generic function LOCK /],
  ["apropos-search", { pattern: "locked", package: "cl-user" }, /^2 names contain "locked":/],
  ["find-references", { name: "locked", mode: "specializers" }, /^2 methods specialize on LOCKED:/],
  ["macroexpand-form", { code: "(locking (car x))", mode: "all" }, /^\(progn \(car x\)\)/],
  ["class-info", { name: "locked" }, /^class LOCKED\n[\s\S]*\n\nSystems are not shown: /],
  ["class-info", { name: "lock" }, /^generic function LOCK \(IT\)\n[\s\S]*1 method:/],
  ["list-changes", {}, /^/],
  ["run-tests", { name: "locked" }, /^There is no system, and no loaded suite or test, named locked\./],
  ["debugger_frames", {}, /"call":"\(HOLD\)"/],
  ["debugger_frame_locals", { frame: 0 }, /"locals"/],
] as const;

describe("While a stopped thread holds the compiler's lock", () => {
  let server: McpStdio;

  before(async function () {
    this.timeout(COMPILING);
    server = await McpStdio.start();
    await server.evaluate(DEFINITIONS);
    // Loads the modules; those for stops are loaded at a stop.
    await server.call("evaluate-lisp", { code: '(error "first")' });
    for (const [tool, args] of ANSWERED) await server.call(tool, args);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect((await server.call("evaluate-lisp", { code: "(hold)" })).isError).to.equal(true);
  });
  after(() => server.end());

  for (const [tool, args, answer] of ANSWERED)
    it(`${tool} ${JSON.stringify(args)} answers`, async () => {
      const result = await server.call(tool, args);
      expect(blocks(result).join("\n")).to.match(answer);
    });

  it("evaluate-lisp says which stop must end, and evaluates what needs no compiler", async () => {
    expect(blocks(await server.call("evaluate-lisp", { code: "(+ 1 2)" }))[0]).to.equal("=> 3");
    const refused = await server.call("evaluate-lisp", { code: "(sb-c::with-world-lock () 1)" });
    expect(refused.isError).to.equal(true);
    expect(refused.structuredContent).to.have.nested.property("error.data.type", "LOCK_HELD");
    expect(blocks(refused)[0]).to.match(
      /Resume or abort the stop \d+\/1, then try again\. If that needs the lock, too, do it in /,
    );
  });

  it("compile-code says which stop must end, and works after that", async () => {
    // SBCL takes the lock for most definitions, but not for all.
    const code = "(eval-when (:compile-toplevel) (sb-c::with-world-lock () 1))";
    const refused = await server.call("compile-code", { code });
    expect(refused.structuredContent).to.have.nested.property("error.data.type", "LOCK_HELD");
    const [text = ""] = blocks(refused);
    const stop = /(\d+\/1), then/.exec(text)?.[1] ?? "none";
    // The lock's name from SBCL 2.5 on.
    const answer = text.replace('"PCL global mutex"', '"World Lock"').replaceAll(stop, "STOP");
    expect(answer.replace(/thread \d+/, "thread N")).to.equal(
      'compiling: It needs the compiler\'s lock ("World Lock"), which thread N holds while it is stopped as STOP.\n' +
        "Resume or abort the stop STOP, then try again. If that needs the lock, too, do it in the client that has the stop, or disconnect that client.",
    );
    await server.call("debugger_invoke_restart", { restart: "ABORT", thread: stop });
    expect(blocks(await server.call("compile-code", { code }))[0]).to.match(/^The code compiles/);
  });
});

const unkept = (lock: string) =>
  `No stop was kept, and the stack is unwound: the thread held ${lock}, which others need.`;

describe("Code that stops while it holds a lock of Swank's mailboxes", () => {
  let server: McpStdio;

  before(async function () {
    this.timeout(COMPILING);
    server = await McpStdio.start();
    await server.evaluate("1");
  });
  after(() => server.end());

  for (const [lock, form, said] of [
    [forUsualServer("swank/sbcl::*mailbox-lock*"), '(error "held")', /held/],
    [
      forUsualServer("(swank/sbcl::mailbox.mutex (swank/sbcl::mailbox sb-thread:*current-thread*))"),
      "(break)",
      /break/,
    ],
  ] as const)
    it(`is unwound, and the tools answer: ${form} with ${lock}`, async () => {
      const failed = await server.call("evaluate-lisp", { code: `(sb-thread:with-mutex (${lock}) ${form})` });
      expect(blocks(failed)[0]).to.match(said);
      expect(blocks(failed)[1]).to.equal(unkept("a lock of Swank's mailboxes"));
      expect((await server.call("lisp-status")).structuredContent).to.deep.include({ stopped: [] });
      expect(blocks(await server.call("debugger_frames"))[0]).to.match(/^Thread not in debugger/);
      expect(blocks(await server.call("list-threads", {})).join("\n")).not.to.match(/\b\d+\/1\b/);
      expect(blocks(await server.call("describe-symbol", { name: "car" })).join("\n")).to.match(/CAR/);
      expect(blocks(await server.call("evaluate-lisp", { code: "(+ 1 2)" }))[0]).to.equal("=> 3");
    });

  it("is told that no stop was kept, as at a conflict of names, where the thread holds the lock on packages", async () => {
    const packages =
      "(defpackage con-1 (:export x)) (defpackage con-2 (:export x)) (defpackage con-3 (:use con-1 con-2))";
    const [report, aside = ""] = blocks(await server.call("evaluate-lisp", { code: packages }));
    expect(report).to.match(/name-conflicts/);
    expect(aside.split("\n")[0]).to.equal(unkept("the lock on packages"));
  });

  it("does not keep mailboxes of ended threads from being removed later", async () => {
    for (let count = 0; count < 40; count++) expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    expect(await server.evaluate(forUsualServer("(< (length swank/sbcl::*mailboxes*) 40)"))).to.deep.equal(["=> T"]);
  });
});

/** Calls of each kind of tool, which the image cannot answer without Swank's mailbox lock. */
const UNANSWERED = [
  ["describe-symbol", { name: "car" }],
  ["list-threads", {}],
  ["debugger_frames", {}],
  ["evaluate-lisp", { code: "(+ 1 2)", timeout: 1 }],
  ["load-system", { system: "uiop", timeout: 1 }],
  ["run-tests", { name: "none", timeout: 1 }],
] as const;

/** What answers say about a lock that cannot be named, because no message reaches the image. */
const UNKNOWN_LOCK = /What it waits for is not known\. One cause is a thread that holds a lock .* its mailbox lock/;

/** Starts a thread of the program that holds Swank's mailbox lock. */
const HOLDING =
  '(sb-thread:make-thread (lambda () (sb-thread:with-mutex (swank/sbcl::*mailbox-lock*) (sleep 600))) :name "holder")';

/** Expects that every tool answers that the image does not answer, with the lock as a possible cause. */
async function expectUnanswered(server: McpStdio): Promise<void> {
  const expectRefused = async ([tool, args]: (typeof UNANSWERED)[number]) => {
    const refused = await server.call(tool, args);
    expect(refusalType(refused), `${tool}: ${allBlocks(refused).join(" / ")}`).to.equal("IMAGE_HANGS");
    expect(blocks(refused)[0], tool).to.match(UNKNOWN_LOCK);
  };
  // The first call finds out that the image hangs, and the others then know it.
  const [first, ...others] = UNANSWERED;
  await expectRefused(first);
  await Promise.all(others.map(expectRefused));
  const status = await server.call("lisp-status");
  expect(status.isError).to.equal(false);
  expect(status.structuredContent?.["unresponsive"]).to.match(UNKNOWN_LOCK);
}

/** How answers name the compiler's lock and the running thread that holds it. */
const RUNNING_HOLDER = /the compiler's lock \("[^"]+"\), which thread \d+ holds[.,]/;

/** Calls for which the image first loads code of the library, which needs the compiler's lock. */
const NEEDING_MODULES = [
  ["list-threads", {}],
  ["describe-symbol", { name: "car" }],
  ["list-changes", {}],
] as const;

const PACKAGE_LOCK =
  /a thread of Swank that serves a connection waits for the lock "Package Graph Lock", which thread (\d+) holds while it is stopped as \1\/1\./i;

describe("While another thread holds a lock that Swank needs for each message", function () {
  this.timeout(300_000);

  sideBySide({
    "every tool of an attached server says what is known, and the form in the answer frees the image": () =>
      attached(async (server, lisp) => {
        await server.evaluate("(setf (symbol-function 'survivor) #'identity) 1");
        lisp.type(HOLDING);
        await pause(500);
        await expectUnanswered(server);
        const second = new McpStdio(["--attach", String(lisp.port)]);
        await second.initialize();
        const refused = await second.call("describe-symbol", { name: "car" });
        expect(refused.isError).to.equal(true);
        expect(blocks(refused)[0]).to.match(/does not answer/);
        const status = (await server.call("lisp-status")).structuredContent?.["unresponsive"];
        const [form] = /\(sb-thread:mutex-owner \S+\)/.exec(String(status)) ?? [];
        lisp.type(`(sb-thread:terminate-thread ${form})`);
        await pause(1000);
        expect(await server.evaluate("(survivor 42)")).to.deep.equal(["=> 42"]);
        expect(await second.evaluate("(survivor 43)", { timeout: 60 })).to.deep.equal(["=> 43"]);
        second.process.kill("SIGKILL");
        await second.exited;
      }),

    "every tool says what is known if another client's thread has stopped": () =>
      attached(async (server, lisp) => {
        const code = forUsualServer("(sb-thread:with-mutex (swank/sbcl::*mailbox-lock*) (break))");
        await stoppedElsewhere(lisp, code, () => expectUnanswered(server));
      }),

    "every tool of a server with its own image says what is known, and reset-session replaces the image": async () => {
      const server = await McpStdio.start();
      await server.call("evaluate-lisp", { code: HOLDING, timeout: 1 });
      await expectUnanswered(server);
      expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\. A fresh image/);
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
      await server.end();
    },

    "calls name the compiler's lock that a running thread holds, within their time": () =>
      attached(async (server) => {
        // The answer may need the lock, so the thread takes it later.
        const hold = "(progn (sb-thread:make-thread (lambda () (sleep 2) (sb-c::with-world-lock () (sleep 600)))) 1)";
        expect(await server.evaluate(hold)).to.deep.equal(["=> 1"]);
        await pause(2500);
        for (const [tool, args] of [
          ["load-system", { system: "uiop", timeout: 1 }],
          ["run-tests", { name: "none", timeout: 1 }],
          ["load-changes", { timeout: 1 }],
        ] as const) {
          const refused = await server.call(tool, args);
          expect(refusalType(refused), `${tool}: ${allBlocks(refused).join(" / ")}`).to.equal("IMAGE_HANGS");
          expect(blocks(refused)[0], tool)
            .to.match(/^Nothing was run: .* within 1 s\. Requests to the image wait for the compiler's lock \(".+"\), /)
            .and.to.match(/which thread \d+ holds\.\nWait until that thread has released the lock, then call again\./);
        }
      }),

    "calls name the compiler's lock that a running thread holds, and nothing is lost": () =>
      attached(async (server) => {
        const hold =
          "(defvar *free* nil) (setf (symbol-function 'survivor) #'identity) (progn (sb-thread:make-thread " +
          "(lambda () (sleep 2) (sb-c::with-world-lock () (loop until *free* do (sleep 1/10))))) 1)";
        expect(await server.evaluate(hold)).to.deep.equal(["=> 1"]);
        await pause(2500);
        const waiting = await server.call("evaluate-lisp", { code: "(sb-c::with-world-lock () 1)", timeout: 1 });
        expect(blocks(waiting)[0])
          .to.match(RUNNING_HOLDER)
          .and.to.match(/ Wait until that thread has released the lock, /);
        expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
        await Promise.all(
          NEEDING_MODULES.map(async ([tool, args]) => {
            const refused = await server.call(tool, args);
            expect(refusalType(refused), `${tool}: ${allBlocks(refused).join(" / ")}`).to.equal("LOCK_HELD");
            expect(blocks(refused)[0], tool)
              .to.match(RUNNING_HOLDER)
              .and.to.match(/\nWait until that thread has released the lock, then try again\. /);
          }),
        );
        const status = (await server.call("lisp-status")).structuredContent?.["unresponsive"];
        if (status !== undefined) expect(status).to.match(RUNNING_HOLDER);
        await server.evaluate("(setf *free* t)");
        for (const [tool, args] of NEEDING_MODULES)
          expect((await server.call(tool, args)).isError, tool).to.equal(false);
        expect(await server.evaluate("(survivor 42)")).to.deep.equal(["=> 42"]);
      }),

    "an evaluation of a server that attaches meanwhile is refused, and does not run later": () =>
      attached(async (server, lisp) => {
        const hold =
          "(defvar *free* nil) (defvar *ran* 0) (progn (sb-thread:make-thread " +
          "(lambda () (sleep 2) (sb-c::with-world-lock () (loop until *free* do (sleep 1/10))))) 1)";
        expect(await server.evaluate(hold)).to.deep.equal(["=> 1"]);
        await pause(2500);
        const second = new McpStdio(["--attach", String(lisp.port)]);
        await second.initialize();
        const refused = await second.call("evaluate-lisp", {
          code: "(sb-c::with-world-lock () (incf *ran*))",
          timeout: 1,
        });
        expect(refused.isError).to.equal(true);
        expect(blocks(refused)[0]).to.match(RUNNING_HOLDER);
        expect(blocks(refused)[0]).not.to.match(/STILL RUNNING/);
        await server.evaluate("(setf *free* t)");
        expect(await server.evaluate("(progn (sleep 2) *ran*)")).to.deep.equal(["=> 0"]);
        second.process.kill("SIGKILL");
        await second.exited;
      }),

    "calls name the lock on packages and its holder, and the connection and its stops are kept": () =>
      attached(async (server, lisp) => {
        expect(blocks(await server.call("evaluate-lisp", { code: '(error "kept")' }))[0]).to.match(/\nkept\n/);
        const hold = "(sb-thread:with-recursive-lock (sb-impl::*package-graph-lock*) (break))";
        await stoppedElsewhere(lisp, hold, async () => {
          // Reading new symbols needs the lock.
          const code = "'(never-seen-before)";
          const first = await server.call("evaluate-lisp", { code, timeout: 1 });
          expect(first.isError).to.equal(true);
          for (const [tool, args] of [
            ["list-threads", {}],
            ["load-system", { system: "uiop" }],
          ] as const) {
            const refused = await server.call(tool, args);
            expect(refusalType(refused), `${tool}: ${allBlocks(refused).join(" / ")}`).to.equal("IMAGE_HANGS");
            expect(blocks(refused)[0], tool).to.match(PACKAGE_LOCK);
          }
          const status = await server.call("lisp-status");
          expect(status.structuredContent?.["unresponsive"]).to.match(PACKAGE_LOCK);
        });
        await pause(1000);
        const frames = await server.call("debugger_frames");
        expect(allBlocks(frames).join("\n")).not.to.match(/connection was dead/);
        expect(frames.structuredContent).to.have.property("total_frames");
      }),
  });
});

/** Runs a test with a server that is attached to a new image. */
async function attached(test: (server: McpStdio, lisp: RealSwank) => Promise<void>): Promise<void> {
  const lisp = await startRealSwank();
  const server = await McpStdio.start(["--attach", String(lisp.port)]);
  try {
    // On a busy machine, loading the runtime can take longer than a connection may.
    while ((await server.evaluate("1", { timeout: 120 }))[0] !== "=> 1") await pause(100);
    await test(server, lisp);
  } finally {
    server.process.kill("SIGKILL");
    await server.exited;
    await lisp.stop();
  }
}

/** Runs a test while a thread of another client, which knows no more than Emacs, runs code that stops. Ends that stop. */
async function stoppedElsewhere(lisp: RealSwank, code: string, test: () => Promise<void>): Promise<void> {
  const { connection } = await openConnection(tcpOpener({ port: lisp.port }));
  const form = list(symbol("cl:eval"), list(symbol("cl:read-from-string"), code));
  const ended = connection.request(form, { label: "stopping" }).catch(() => undefined);
  const stop = firstStop(connection);
  // A thread that holds the mailbox lock cannot tell its client that it has stopped.
  await Promise.race([stop, pause(1500)]);
  await test();
  const known = await Promise.race([stop, pause(10)]);
  if (known !== undefined) {
    const restart = read("(swank:throw-to-toplevel)");
    await connection.request(restart, { label: "leaving", thread: known.thread }).catch(() => NIL);
    await ended;
  }
  await connection.close();
}

function firstStop(connection: Connection): Promise<{ readonly thread: number }> {
  return new Promise((resolve) => {
    connection.on("debug", resolve);
  });
}
