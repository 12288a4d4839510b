import { expect } from "chai";
import { COMPILING } from "../support/loadable-systems.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { Snapshots } from "../support/snapshots.js";
import { encapsulated, TestedSystems, testsText } from "../support/tested-systems.js";

/** Systems with tests of the frameworks that Debian does not have. Each has the same mistakes in its tests. */
const FILES = {
  "by-parachute.asd": `
(defsystem "by-parachute"
  :depends-on ("parachute")
  :components ((:file "by-parachute"))
  :perform (test-op (o c) (symbol-call :parachute :test :by-parachute)))
`,
  "by-parachute.lisp": `
(defpackage :by-parachute (:use :cl) (:local-nicknames (:p :parachute)))
(in-package :by-parachute)
(defun total (prices) (reduce #'+ prices))
(p:define-test all)
(p:define-test sums
  :parent all
  (p:is = 6 (total '(1 2 3)))
  (p:is = 7 (total '(1 2 3)) "The total of ~a" '(1 2 3))
  (p:isnt = 6 (total '(6)))
  (p:is-values (floor 7 2) (= 3) (= 2))
  (p:fail (total '(1 2)))
  (p:fail (total '(1 :two)) type-error)
  (p:finish (total '(1 :two)))
  (p:is = 3 (total '(1 :two))))
(p:define-test (all "named by a text")
  (p:true nil))
(p:define-test broken
  :parent all
  (p:true t)
  (total '(1 :two)))
(p:define-test after
  :parent all
  :depends-on (broken)
  (p:true t))
(p:define-test later
  :parent all
  (p:skip "Not now" (p:true nil) (p:true nil))
  (p:group (grouped) (p:true (total '(0))) (p:false (total '(0)))))
`,
  "by-rove.asd": `
(defsystem "by-rove"
  :depends-on ("rove")
  :components ((:file "by-rove"))
  :perform (test-op (o c) (symbol-call :rove :run c)))
`,
  "by-rove.lisp": `
(defpackage :by-rove (:use :cl :rove))
(in-package :by-rove)
(defun total (prices) (reduce #'+ prices))
(deftest sums
  (ok (= 6 (total '(1 2 3))))
  (testing "wrong ones"
    (ok (= 7 (total '(1 2 3))) "The total is seven")
    (ng (= 6 (total '(1 2 3)))))
  (ok (signals (total '(1 :two)) 'type-error))
  (ok (= 3 (total '(1 :two))))
  (fail "always")
  (skip "not now"))
(deftest (broken :compile-at :run-time)
  (ok t)
  (total '(1 :two)))
`,
  "by-lisp-unit2.asd": `
(defsystem "by-lisp-unit2"
  :depends-on ("lisp-unit2")
  :components ((:file "by-lisp-unit2"))
  :perform (test-op (o c) (symbol-call :lisp-unit2 :run-tests :package :by-lisp-unit2)))
`,
  "by-lisp-unit2.lisp": `
(defpackage :by-lisp-unit2 (:use :cl :lisp-unit2))
(in-package :by-lisp-unit2)
(defun total (prices) (reduce #'+ prices))
(define-test sums (:tags '(arithmetic))
  (assert-equal 6 (total '(1 2 3)))
  (assert-equal 7 (total '(1 2 3)) "the total" (total '(1)))
  (assert-true (zerop (total '(1))))
  (assert-error 'type-error (total '(1 :two)))
  (assert-error 'type-error (total '(1))))
(define-test broken ()
  (assert-true t)
  (total '(1 :two)))
`,
} as const;

const FRAMEWORKS = ["parachute", "rove", "lisp-unit2"] as const;

describe("run-tests with frameworks that ASDF finds", () => {
  const snapshots = new Snapshots(import.meta.url);
  let systems: TestedSystems;
  let server: McpStdio;

  before(async function () {
    this.timeout(COMPILING);
    systems = await TestedSystems.create(FILES);
    server = await systems.start();
    const names = FRAMEWORKS.map((name) => `"${name}"`).join(" ");
    const found = await server.evaluate(`(remove-if (lambda (name) (asdf:find-system name nil)) (list ${names}))`);
    if (!found.at(-1)?.endsWith("=> NIL"))
      throw new Error(`ASDF does not find ${found.at(-1)}. Set CL_SOURCE_REGISTRY to a folder with these systems.`);
    for (const name of FRAMEWORKS) await server.call("run-tests", { name: `by-${name}`, timeout: 500 });
  });

  after(async () => {
    await server.end();
    await systems.remove();
  });

  async function run(args: Record<string, unknown>) {
    return testsText(await server.call("run-tests", { timeout: 500, ...args }));
  }

  /** Stops in each failure of a test, and goes on. The last text is the result. */
  async function stops(name: string): Promise<string[]> {
    const texts = [await run({ name, "stop-on-failure": true })];
    while (texts.at(-1)?.includes("\nStopped, ")) texts.push(testsText(await server.call("debugger_continue", {})));
    return texts;
  }

  for (const framework of FRAMEWORKS) {
    it(`reports the failures of ${framework} with their forms, values and places`, async () => {
      snapshots.match(framework, (await run({ name: `by-${framework}` })).split("\n\n[")[0] ?? "");
    });

    it(`finds tests of ${framework} by their names and by their package`, async () => {
      expect(await run({ name: `by-${framework}::broken` })).to.match(/::BROKEN: 1 passed, 1 failed, 0 skipped/);
      const inPackage = await run({ name: `by-${framework}`, framework });
      expect(inPackage.split("\n")[0]).to.equal(
        (await run({ name: `by-${framework}` }))
          .split("\n")[0]
          ?.replace(/^System \S+:/, `Package BY-${framework.toUpperCase()}:`),
      );
      expect(await run({ name: "brken", framework })).to.include(`BY-${framework.toUpperCase()}::BROKEN`);
    });

    it(`stops in each failure of ${framework} with the frames of the test, and goes on`, async () => {
      const [first = "", ...others] = await stops(`by-${framework}::sums`);
      expect(first).to.match(/^\[ERROR\] SIMPLE-ERROR\nTest BY-\S+::SUMS failed\.\nForm: \([\s\S]*7[\s\S]*\nActual: /);
      expect(first).to.match(/ by-\w+\.lisp:\d|:SUMS-TEST-THUNK\)\n/);
      expect(others.at(-1)).to.match(/::SUMS: \d passed, \d failed/);
      const [problem = "", result = ""] = await stops(`by-${framework}::broken`);
      expect(problem).to.match(/^\[ERROR\] TYPE-ERROR\nThe value :TWO is not of type NUMBER\n/);
      expect(problem).to.match(/\n\d+: \(REDUCE /);
      expect(result).to.match(/::BROKEN: 1 passed, 1 failed/);
    });
  }

  it("finds tests that are named by a text or a tag", async () => {
    expect(await run({ name: "named by a text" })).to.match(
      /^named by a text: 0 passed, 1 failed[\s\S]*by-parachute\.lisp:16:1: named by a text failed\n/,
    );
    expect(await run({ name: "arithmetic" })).to.match(/^BY-LISP-UNIT2::ARITHMETIC: 2 passed, 3 failed/);
  });

  it("leaves the frameworks as they were", async () => {
    const functions =
      "parachute:test parachute:eval-in-context rove/core/stats:record rove/reporter:invoke-reporter lisp-unit2::%run-test";
    const count = `(length ${encapsulated(functions)})`;
    await run({ name: "by-rove::sums", "stop-on-failure": true });
    expect(await server.evaluate(count)).to.deep.equal(["=> 5"]);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(await server.evaluate(count)).to.deep.equal(["=> 0"]);
  });

  snapshots.testCompleteness();
});
