import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LOAD_FIVEAM } from "./fiveam.js";
import { blocks } from "./mcp-results.js";
import { McpStdio } from "./mcp-stdio.js";

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
  "late.asd": `
(defsystem "late"
  :perform (test-op (o c) (load-system "orders/tests") (symbol-call :fiveam :run! (find-symbol* :totals :orders-tests))))
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

(test (listed :compile-at :definition-time)
  "A test with options"
  (is (= 1 (total '()))))
`,
  "waiting.lisp": `
(defpackage :waiting (:use :cl :fiveam))
(in-package :waiting)
(defvar *rounds* 0)
(defvar *threads* (sb-thread:list-all-threads))
(test quick (is (= 1 1)))
(test endless (loop (incf *rounds*) (sleep 0.01)))
(def-suite both)
(test (one :suite both) (is (= 1 1)))
(test (two :suite both) (loop (incf *rounds*) (sleep 0.01)))
`,
  "sound.lisp": `
(defpackage :sound (:use :cl))
(in-package :sound)
(sb-rt:deftest doubled (* 2 2) 4)
(sb-rt:deftest halved (floor 7 2) 3 2)
(sb-rt:deftest divided (/ 1 0) 0)
(defun volume () "Code, with which Lisp keeps the date of this file." 11)
`,
} as const;

type Result = Awaited<ReturnType<McpStdio["call"]>>;

/** A folder with systems that have tests, and servers whose images find these. */
export class TestedSystems {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(files: Readonly<Record<string, string>> = FILES): Promise<TestedSystems> {
    const systems = new TestedSystems(await realpath(await mkdtemp(join(tmpdir(), "run tests "))));
    for (const [name, text] of Object.entries(files)) await writeFile(join(systems.folder, name), text);
    return systems;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  async start(): Promise<McpStdio> {
    const server = await McpStdio.start();
    await server.evaluate(`${LOAD_FIVEAM} (require "sb-rt")
      (setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${this.folder}/"))
      (push *default-pathname-defaults* asdf:*central-registry*)`);
    return server;
  }
}

/** What the suites about run-tests share, while a test runs. */
export interface TestingSuite {
  readonly systems: TestedSystems;
  readonly server: McpStdio;
  /** The text of an answer of run-tests. */
  run(args: Record<string, unknown>): Promise<string>;
}

/** Gives the suite that calls it systems with tests, and a server that finds them. */
export function testingSuite(): TestingSuite {
  let started: { readonly systems: TestedSystems; readonly server: McpStdio } | undefined;
  const state = () => started ?? expect.fail("The systems are there while a test runs.");
  before(async () => {
    const systems = await TestedSystems.create();
    started = { systems, server: await systems.start() };
  });
  after(async () => {
    await started?.server.end();
    await started?.systems.remove();
  });
  return {
    get systems() {
      return state().systems;
    },
    get server() {
      return state().server;
    },
    async run(args) {
      return testsText(await state().server.call("run-tests", args));
    },
  };
}

/** A form for those of the functions, names separated by spaces, that are encapsulated now. SBCL has a record for each kind of function. */
export function encapsulated(functions: string): string {
  return `(remove-if-not (lambda (name)
    (let ((function (sb-kernel:%coerce-name-to-fun name)))
      (if (typep function 'generic-function)
          (slot-value function 'sb-pcl::encapsulations)
          (sb-impl::encapsulation-info function))))
    '(${functions}))`;
}

/** An answer without the seconds that the tests took. */
export function testsText(result: Result): string {
  return blocks(result)
    .join("\n\n")
    .replace(/\d+\.\d\d s/g, "<seconds>");
}
