import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { attachedTo, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";
import { forUsualServer } from "../../support/usual-server.js";

/** The image's global values of what code sets to control how code runs, is read and is printed. */
const GLOBAL = `(mapcar 'sb-ext:symbol-global-value
  '(*break-on-signals* *debugger-hook* sb-ext:*invoke-debugger-hook* *macroexpand-hook* *compile-print* *load-print* *compile-verbose*
    *load-verbose* sb-ext:*evaluator-mode* *print-base* *print-length* *print-case* *read-base* *read-eval*))`;

const ASSIGNMENTS = `(setf *break-on-signals* 'error
  *macroexpand-hook* (lambda (function form environment) (funcall function form environment))
  *debugger-hook* (lambda (condition hook) (declare (ignore hook)) (format t "hooked: ~a" condition))
  *compile-print* nil *load-print* nil *compile-verbose* nil *load-verbose* nil *print-base* 8 *print-length* 3 *print-case* :downcase
  *read-eval* nil sb-ext:*evaluator-mode* :interpret)`;

/** Calls of tools that signal and handle errors on their way. */
const CALLS: readonly (readonly [string, object])[] = [
  ["describe-symbol", { name: "no-such-thing" }],
  ["describe-symbol", { name: "print-object", arguments: ["nowhere"] }],
  ["list-changes", {}],
  ["save-changes", { "dry-run": true }],
  ["load-changes", {}],
  ["load-system", { system: "sb-md5" }],
  ["load-system", { system: "no-such-system" }],
  ["list-definitions", {}],
  ["list-threads", { frames: 3 }],
  ["show-source", { name: "car" }],
  ["find-references", { name: "car", mode: "callers" }],
  ["class-info", { name: "standard-object" }],
  ["apropos-search", { pattern: "restart" }],
  ["search-source", { pattern: "defun" }],
  ["compile-code", { code: "(defun of-no-use () (car 1))" }],
  ["macroexpand-form", { code: "(handler-case (error 1) (error () 2))" }],
  ["inspect-object", { object: "(list 1)" }],
  ["breakpoint_set", { function: "no-such-function" }],
  ["breakpoint_list", {}],
  ["heap", { mode: "summary" }],
  ["lisp-status", {}],
];

describe("what one session sets", () => {
  const lisp = liveSwank();
  const server = liveServer({ args: attachedTo(lisp) });
  let user: SwankClient;
  before(async () => {
    user = await connect({ port: lisp.port });
  });
  after(() => user.close());

  const evaluated = async (code: string) => blocks(await server.call("evaluate-lisp", { code })).join("\n");

  it("stays in its evaluations, and reaches neither the image nor the other tools", async () => {
    await server.evaluate("1");
    await user.eval(`(setf (get :settings :before) ${GLOBAL})`);
    await server.evaluate(ASSIGNMENTS);
    expect(await user.eval(`(equal (get :settings :before) ${GLOBAL})`)).to.deep.equal(["T"]);
    expect(await evaluated("(list *break-on-signals* 8 *print-length* *read-eval*)")).to.contain("=> (error 10 3 ...)");
    const broken = await server.call("evaluate-lisp", { code: '(ignore-errors (error "x"))' });
    expect(blocks(broken)[0]).to.contain("[BREAK]").and.to.contain("BREAK-ON-SIGNALS");
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    for (const [name, args] of CALLS) {
      const text = blocks(await server.call(name, args)).join("\n");
      expect(text, name).not.to.match(/BREAK-ON-SIGNALS|[Aa]borted in Lisp|\[BREAK\]/i);
    }
    expect((await user.eval(`(ignore-errors (error "y"))`))[0]).to.equal("NIL");
    const status = JSON.stringify((await server.call("lisp-status")).structuredContent);
    expect(status.match(/"thread":"\d+\/1"/g) ?? [], status).to.have.lengthOf.at.most(1);
    await server.call("reset-session");
    expect(await evaluated("(list *break-on-signals* *print-base* *print-length*)")).to.equal("=> (NIL 10 NIL)");
  });

  it("includes a debugger hook, which is the next evaluations' too", async () => {
    await server.call("reset-session");
    await server.evaluate(
      '(setf *debugger-hook* (lambda (condition hook) (declare (ignore hook)) (format t "hooked: ~a" condition) (abort)))',
    );
    expect(await evaluated('(error "caught")')).to.contain("hooked: caught");
    expect(await evaluated('(error "caught")')).to.contain("hooked: caught");
    const other = await user.evaluate('(error "other")').next();
    expect(other.status).to.equal("stopped");
    if (other.status === "stopped") await other.stop.abort();
    await server.call("reset-session");
    expect(await evaluated('(error "seen")')).to.contain("[ERROR]");
  });

  it("does not change how the numbers of objects, parts and threads are written", async () => {
    for (const settings of ["*print-base* 2", "*print-radix* t", "*print-base* 16 *print-radix* t"]) {
      await server.call("reset-session");
      await server.evaluate(`(defvar *numbered* (list 7)) (setf ${settings})`);
      for (const object of ["(list 1 2)", "(list 1 2 3)", "(vector 1 2 3)", "(list 1 2 3 4)"]) {
        const inspected = await server.call("inspect-object", { object });
        const text = blocks(inspected).join("\n");
        expect(inspected.isError, `${settings}, ${object}: ${text}`).to.equal(false);
        // The name of an element is its index, which is not repeated.
        expect(text, settings).not.to.match(/\[\d+\] \S+: /);
      }
      const path = await server.call("heap", { mode: "path", object: "*numbered*" });
      expect(path.isError, `${settings}: ${blocks(path).join("\n")}`).to.equal(false);
      expect(blocks(path).join("\n")).to.contain("*NUMBERED*");
    }
    await server.call("reset-session");
  });
});

describe("numbers in lists of expressions", () => {
  it("are the host's numbers, whatever number base the session has set", async () => {
    const server = await McpStdio.start();
    try {
      await server.evaluate("(setf *read-base* 16.)");
      await server.evaluate('(restart-case (error "x") (use-value (v) v))');
      const answer = blocks(await server.call("debugger_invoke_restart", { restart: "USE-VALUE", values: [10] }));
      expect(answer.join("\n")).to.include("=> 10");
      await server.evaluate('(restart-case (error "x") (use-value (v) v))');
      const frame = blocks(
        await server.call("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: [0, 1] }),
      );
      expect(frame.join("\n")).to.not.include("index of a frame");
    } finally {
      await server.close();
    }
  });
});

describe("expressions for objects", () => {
  it("are read as they are meant, whatever number base the image's user or the session has set", async () => {
    const lisp = await startRealSwank();
    lisp.type("(setf *print-base* 16)");
    lisp.type("(setf *read-base* 16)");
    const server = await McpStdio.start(["--attach", String(lisp.port)]);
    try {
      await server.evaluate(
        "(defvar *based* (list (loop for i below 20. collect (list i)) (make-array 20. :initial-element '(a)) (make-hash-table)))",
      );
      await server.evaluate("(setf (gethash 26. (third *based*)) '(b))");
      for (const code of ["1", "(setf *read-base* 10.)", "(setf *read-base* 2 *print-base* 3)"]) {
        await server.evaluate(code);
        for (const object of ["(first *based*)", "(second *based*)", "(third *based*)"]) {
          const inspected = blocks(await server.call("inspect-object", { object })).join("\n");
          const parts = [...inspected.matchAll(/; (?:key id \d+, )?id (\d+), (.+)$/gm)];
          expect(parts, inspected).to.have.lengthOf(object === "(third *based*)" ? 1 : 20);
          for (const [, id, expression] of parts.slice(-2)) {
            const again = blocks(await server.call("inspect-object", { object: expression })).join("\n");
            expect(again, `${code}: ${expression}`).to.match(new RegExp(`^list of 1, id ${id}\\b`, "m"));
          }
        }
      }
    } finally {
      await server.close();
      await lisp.stop();
    }
  });
});

describe("*break-on-signals* of the image's user", () => {
  const lisp = liveSwank();
  before(() => lisp.type("(setf *break-on-signals* t)"));
  const server = liveServer({ args: attachedTo(lisp) });

  it("breaks no tool and no evaluation of the agent", async () => {
    await server.evaluate('(ignore-errors (error "x"))');
    for (const [name, args] of CALLS) {
      const text = blocks(await server.call(name, args)).join("\n");
      expect(text, name).not.to.match(/BREAK-ON-SIGNALS|aborted in Lisp|\[BREAK\]/i);
    }
    expect(
      await server.evaluate("(list *break-on-signals* (sb-ext:symbol-global-value '*break-on-signals*))"),
    ).to.deep.equal(["=> (NIL T)"]);
    const { structuredContent } = await server.call("lisp-status");
    expect(JSON.stringify(structuredContent)).not.to.contain('"1/1"');
  });
});

describe("*break-on-signals* of the image's user, when an agent leaves", () => {
  /** The names of the threads that are stopped in the debugger, once nothing has changed for a while, and the number of connections. */
  const STOPPED = forUsualServer(
    `(flet ((stopped ()
           (loop for thread in (sb-thread:list-all-threads)
                 when (plusp (or (ignore-errors (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread)) 0))
                   collect (sb-thread:thread-name thread))))
    (loop repeat 500
          until (and (null (stopped)) (= 1 (length swank::*connections*)))
          do (sleep 0.01))
    (list (stopped) (length swank::*connections*)))`,
  );

  for (const [when, how, leave] of [
    ["after", "in an orderly way", (server: McpStdio) => server.close()],
    ["before", "by SIGKILL", (server: McpStdio) => server.process.kill("SIGKILL")],
  ] as const)
    it(`leaves no thread stopped and no connection if it was set ${when} the agent came, which leaves ${how}`, async () => {
      const lisp = await startRealSwank();
      const user = await connect({ port: lisp.port });
      const set = () => user.eval("(setf (sb-ext:symbol-global-value '*break-on-signals*) t)");
      try {
        await user.eval("1");
        if (when === "before") await set();
        const server = await McpStdio.start(["--attach", String(lisp.port)]);
        await server.evaluate("1");
        if (when === "after") await set();
        await server.evaluate('(ignore-errors (error "x"))');
        await server.call("evaluate-lisp", { code: '(error "stopped")' });
        await server.call("evaluate-lisp", { code: "(loop (sleep 0.1))", timeout: 0.3 });
        await leave(server);
        expect(await user.eval(STOPPED)).to.deep.equal(["(NIL 1)"]);
      } finally {
        await user.close();
        await lisp.stop();
      }
    });
});

const textOf = async (server: McpStdio, name: string, args: object = {}) =>
  blocks(await server.call(name, args)).join("\n");

describe("the package COMMON-LISP-USER of a session", () => {
  // The runtime's modules are compiled when they are first used, in the image without that package.
  const cache = liveFolder("swank-mcp");
  const lisp = liveSwank();
  const server = liveServer({ args: attachedTo(lisp, "--approval", "off", "--cache-dir", cache) });
  const answer = (name: string, args?: object) => textOf(server, name, args);
  const evaluated = (code: string) => answer("evaluate-lisp", { code });

  it("leaves the session in a live package, which the answer names, when it is deleted", async () => {
    const deleted = await evaluated("(delete-package *package*)");
    expect(deleted).to.contain("The current package was deleted. The package is COMMON-LISP now.");
    expect(deleted).to.contain("=> T");
    expect(await evaluated("(+ 1 2)")).to.equal("=> 3");
    expect(await answer("describe-symbol", { name: "car" })).to.contain("[FUNCTION]");
    expect(await answer("show-source", { name: "car" })).not.to.contain("not found");
    expect(await answer("inspect-object", { object: "(list 1 2)" })).to.contain("list of 2");
    expect(await evaluated('(error "still")'))
      .to.contain("still")
      .and.to.contain("[ERROR]");
    expect(await answer("debugger_eval_in_frame", { frame: 0, code: "(+ 2 3)" })).to.contain("=> 5");
    expect(await answer("debugger_invoke_restart", { restart: "ABORT" })).not.to.contain("ERROR");
    expect(await evaluated("(make-package :cl-user :use '(:cl)) (in-package :cl-user) (defun own () 1)")).to.contain(
      "OWN",
    );
  });
});

describe("the package COMMON-LISP-USER", () => {
  const lisp = liveSwank({ each: true });
  const attached = attachedTo(lisp);
  const server = liveServer({ each: true, args: attached });
  const answer = (name: string, args?: object) => textOf(server, name, args);

  it("can be deleted by the user: reset-session names the package that is left, and new clients begin in it", async () => {
    expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    const user = await connect({ port: lisp.port });
    await user.eval("(delete-package :common-lisp-user)");
    await user.close();
    const other = await McpStdio.start(attached());
    try {
      for (const each of [server, other]) {
        expect((await each.evaluate("(+ 1 2)")).join("\n")).to.match(/=> 3$/);
        expect(blocks(await each.call("reset-session"))[0]).to.equal("Session reset. The package is COMMON-LISP.");
        expect((await each.call("lisp-status")).structuredContent).to.include({ package: "COMMON-LISP" });
      }
    } finally {
      await other.close();
    }
  });

  it("can have another name", async () => {
    await server.evaluate('(rename-package *package* "XX")');
    expect((await server.evaluate("(list 'a (package-name *package*))"))[0]).to.equal('=> (A "XX")');
    expect(await answer("describe-symbol", { name: "car" })).to.contain("[FUNCTION]");
    expect(await answer("describe-symbol", { name: "xx::car" })).to.contain("[FUNCTION]");
  });
});
