import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

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
  ["find-references", { name: "locked", kind: "specializers" }, /^2 methods specialize on LOCKED:/],
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

const MAILBOX_HOLDS = [
  '(sb-thread:with-mutex (swank/sbcl::*mailbox-lock*) (error "held"))',
  '(sb-thread:with-mutex ((swank/sbcl::mailbox.mutex (swank/sbcl::mailbox sb-thread:*current-thread*))) (error "held"))',
] as const;

describe("Code that fails while it holds a lock of Swank's mailboxes", () => {
  let server: McpStdio;

  before(async function () {
    this.timeout(COMPILING);
    server = await McpStdio.start();
    await server.evaluate("1");
  });
  after(() => server.end());

  for (const code of MAILBOX_HOLDS)
    it(`does not stop, and the tools answer: ${code}`, async () => {
      const failed = await server.call("evaluate-lisp", { code });
      expect(failed.isError).to.equal(true);
      expect(blocks(failed).join("\n")).to.match(/held/);
      expect(blocks(await server.call("list-threads", {})).join("\n")).not.to.match(/\b\d+\/1\b/);
      expect(blocks(await server.call("describe-symbol", { name: "car" })).join("\n")).to.match(/CAR/);
      expect(blocks(await server.call("evaluate-lisp", { code: "(+ 1 2)" }))[0]).to.equal("=> 3");
    });
});
