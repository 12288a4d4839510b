import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LOAD_FIVEAM } from "../../support/fiveam.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

/** Systems with their files. Their tests are in FiveAM, in sb-rt, and in no framework. */
const FILES = {
  "orders.asd": `
(defsystem "orders"
  :components ((:file "orders"))
  :in-order-to ((test-op (test-op "orders/tests"))))
(defsystem "orders/tests"
  :depends-on ("orders" "fiveam")
  :components ((:file "orders-tests"))
  :perform (test-op (o c) (unless (symbol-call :fiveam :run! (find-symbol* :all :orders-tests)) (error "Tests of orders failed."))))
`,
  "halfway.asd": `
(defsystem "halfway"
  :depends-on ("orders/tests")
  :perform (test-op (o c) (symbol-call :fiveam :run! (find-symbol* :totals :orders-tests)) (error 'division-by-zero)))
`,
  "plain.asd": `
(defsystem "plain"
  :perform (test-op (o c) (format t "plain: 1 test failed~%")))
`,
  "sound.asd": `
(defsystem "sound"
  :depends-on ("sb-rt")
  :components ((:file "sound"))
  :perform (test-op (o c) (symbol-call :sb-rt :do-tests)))
`,
  "unsound.asd": `
(defsystem "unsound" :components ((:file "missing")))
`,
  "orders.lisp": `
(defpackage :orders (:use :cl) (:export #:total))
(in-package :orders)
(defun total (prices) (reduce #'+ prices))
`,
  "orders-tests.lisp": `
(defpackage :orders-tests (:use :cl :orders :fiveam))
(in-package :orders-tests)
(def-suite all)
(def-suite sums :in all)
(in-suite sums)

(test totals
  (is (= 6 (total '(1 2 3))))
  (is (= 7 (total '(1 2 3))))
  (is-true (zerop (total '(1))) "A total of ~a is not zero" 1))

(test broken
  (total '(1 :two)))

(test (after :depends-on broken)
  (is (= 0 (total '()))))
`,
  "sound.lisp": `
(defpackage :sound (:use :cl))
(in-package :sound)
(sb-rt:deftest doubled (* 2 2) 4)
(sb-rt:deftest halved (floor 7 2) 3 2)
(sb-rt:deftest divided (/ 1 0) 0)
`,
} as const;

describe("run-tests", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "run tests ")));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
    server = await McpStdio.start();
    await server.evaluate(`${LOAD_FIVEAM} (require "sb-rt")
      (setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${folder}/"))
      (push *default-pathname-defaults* asdf:*central-registry*)`);
  });

  after(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  async function run(args: Record<string, unknown>) {
    return text(await server.call("run-tests", args));
  }

  function text(result: Awaited<ReturnType<McpStdio["call"]>>): string {
    return blocks(result)
      .join("\n\n")
      .replace(/\d+\.\d\d s/g, "<seconds>");
  }

  it("runs a system's own tests, and reports each failure of FiveAM with its form, values and place", async () => {
    const result = await server.call("run-tests", { name: "orders" });
    snapshots.match("a system", text(result));
    expect(result.isError).to.equal(true);
    expect(result._meta?.["swank-mcp/tests"]).to.deep.include({ status: "run", passed: 1, failed: 3, skipped: 1 });
  });

  it("says what ended a run, unless that only says that tests failed", async () => {
    const ended = await run({ name: "halfway" });
    expect(ended).to.match(
      /^System halfway: 1 passed, 2 failed, 0 skipped in <seconds> \(FiveAM\)\.\n\nThe run ended with DIVISION-BY-ZERO:\n/,
    );
    expect(await run({ name: "orders" })).not.to.include("The run ended");
  });

  it("runs a suite or a test of FiveAM by name", async () => {
    expect(await run({ name: "orders-tests::sums" })).to.match(/^ORDERS-TESTS::SUMS: 1 passed, 3 failed, 1 skipped/);
    expect(await run({ name: "totals", framework: "fiveam" })).to.match(/^ORDERS-TESTS::TOTALS: 1 passed, 2 failed/);
  });

  it("reports values and errors of sb-rt, whose tests are named one by one or by their package", async () => {
    snapshots.match("a system with sb-rt", await run({ name: "sound", framework: "asdf" }));
    expect(await run({ name: "sound::doubled" })).to.equal(
      "SOUND::DOUBLED: 1 passed, 0 failed, 0 skipped in <seconds> (sb-rt).",
    );
    expect(await run({ name: "sound", framework: "sb-rt" })).to.match(/^Package SOUND: 1 passed, 2 failed, 0 skipped/);
  });

  it("lets show-source show a test, and say of one without a file that it is a test", async () => {
    await server.evaluate("(fiveam:test unfiled (fiveam:is-true t))");
    const names = ["orders-tests::broken", "orders-tests::sums", "sound::halved", "unfiled"];
    const shown = [];
    for (const name of names) shown.push(`> ${name}\n${text(await server.call("show-source", { name }))}`);
    snapshots.match("shown tests", shown.join("\n\n"));
  });

  it("says that nothing was counted for a system without a known framework, and shows what that printed", async () => {
    snapshots.match("a system without a known framework", await run({ name: "plain" }));
  });

  it("stops in the first failed check, and reports all results when that is resumed", async () => {
    const stopped = text(await server.call("run-tests", { name: "orders-tests::totals", "stop-on-failure": true }));
    snapshots.match("a failed check, live", stopped.slice(0, stopped.indexOf("\n\n[Backtrace]")));
    expect(stopped).to.include("TEST-TOTALS");
    await server.call("debugger_invoke_restart", { restart: "IGNORE-FAILURE" });
    const ended = text(await server.call("debugger_invoke_restart", { restart: "IGNORE-FAILURE" }));
    expect(ended).to.match(/^ORDERS-TESTS::TOTALS: 1 passed, 2 failed, 0 skipped in <seconds> \(FiveAM\)\./);
  });

  it("stops in an error of a test, with the frames of the code that signalled it, and without those that run tests", async () => {
    const stopped = text(await server.call("run-tests", { name: "orders-tests::broken", "stop-on-failure": true }));
    expect(stopped).to.match(/^\[ERROR\] TYPE-ERROR\n/);
    expect(stopped).to.match(/ORDERS:TOTAL[\s\S]*\n\d+: .*TEST-BROKEN.*\n\nStopped/);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
  });

  it("stops at wrong values of sb-rt, too", async () => {
    const stopped = text(await server.call("run-tests", { name: "sound::halved", "stop-on-failure": true }));
    expect(stopped).to.match(/^\[ERROR\] SIMPLE-ERROR\nTest SOUND::HALVED failed\.\nExpected: 3\n2\nActual: 3\s+1\n/);
    expect(text(await server.call("debugger_invoke_restart", { restart: "CONTINUE" }))).to.match(
      /^SOUND::HALVED: 0 passed, 1 failed/,
    );
  });

  it("leaves the frameworks as they were", async () => {
    const value = await server.evaluate(
      "(list (let ((*standard-output* (make-broadcast-stream))) (sb-rt:do-test 'sound::divided)) fiveam:*on-failure*)",
    );
    expect(value).to.include("=> (NIL NIL)");
  });

  it("reports the error of a system that cannot be loaded, and names what is similar to an unknown name", async () => {
    expect(await run({ name: "unsound" })).to.match(
      /^System unsound: no test was counted in <seconds>\.\n\nThe run ended with \S+\n/,
    );
    snapshots.match("an unknown name", await run({ name: "totls" }));
    expect(await run({ name: "((" })).to.match(/^There is no system, and no loaded suite or test, named \(\(\./);
    expect(await run({ name: "gone::all" })).to.match(/^There is no system/);
  });
});
