import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { blocks } from "./mcp-results.js";
import { McpStdio } from "./mcp-stdio.js";

/** Systems with their files. */
const FILES = {
  "cart.asd": `(defsystem "cart" :components ((:file "cart")))`,
  "cart.lisp": `
(defpackage :cart (:use :cl) (:export #:total))
(in-package :cart)

(defun total (prices unused)
  (declare (optimize speed))
  (reduce #'+ prices))
`,
  "shop.asd": `
(defsystem "shop"
  :serial t
  :depends-on ("cart")
  :components ((:file "packages") (:module "src" :components ((:file "orders"))))
  :in-order-to ((test-op (test-op "shop/tests"))))
(defsystem "shop/tests" :depends-on ("shop") :components ((:file "shop-tests")))
`,
  "packages.lisp": "(defpackage :shop (:use :cl :cart) (:export #:order))\n",
  "src/orders.lisp": `(in-package :shop)
(format t "shop is loaded~%")
(format *error-output* "orders, too~%")
(defun order (prices) (total prices nil))
`,
  "shop-tests.lisp": "(in-package :shop)\n(defun test-order () (= 3 (order '(1 2))))\n",
  "broken.asd": `(defsystem "broken" :serial t :depends-on ("cart") :components ((:file "before") (:file "wrong") (:file "after")))`,
  "before.lisp": "(defun before () 1)\n",
  "wrong.lisp": `(defun right () 1)
(defun wrong ()
  (print 1)
  (if))
`,
  "after.lisp": "(defun after () (before))\n",
  "unread.asd": `(defsystem "unread" :components ((:file "open")))`,
  "open.lisp": `(defun closed () 1)
(defun open-one ()
  (list 1 2)
(defun next () 2)
`,
  "failing.asd": `(defsystem "failing" :serial t :components ((:file "before") (:file "config") (:file "after")))`,
  "config.lisp": `(defvar *config-read* t)
(unless (probe-file "/no/such/file") (error "There is no configuration."))
`,
  "needy.asd": `(defsystem "needy" :depends-on ("cart" "shoop") :components ((:file "after")))`,
  "old.asd": `(defsystem "old" :depends-on ((:version "shop" "3.1")) :components ((:file "after")))`,
  "ring.asd": `
(defsystem "ring" :depends-on ("ring/a"))
(defsystem "ring/a" :depends-on ("ring/b"))
(defsystem "ring/b" :depends-on ("ring/a"))
`,
  "several.asd": `(defsystem "several/one") (defsystem "several/two")`,
  "hidden/secret.asd": `(defsystem "secret" :components ((:file "secret")))`,
  "hidden/secret.lisp": "(defun secret () 42)\n",
  "single.lisp": `(defun single (x) (no-such-single x))\n`,
} as const;

/** The milliseconds that compiling many files may take on a busy machine. */
export const COMPILING = 600_000;

type Result = Awaited<ReturnType<McpStdio["call"]>>;

/** A folder with systems, and servers whose images find only these, and keep their compiled files there. */
export class LoadableSystems {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<LoadableSystems> {
    const systems = new LoadableSystems(await realpath(await mkdtemp(join(tmpdir(), "load system "))));
    for (const [name, text] of Object.entries(FILES)) await systems.write(name, text);
    return systems;
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, name)), { recursive: true });
    await writeFile(join(this.folder, name), text);
  }

  /** Writes a system `wide` of 100 files, in a folder. `special` replaces the text of the file with that number. */
  async writeWide(number: number, special: string): Promise<void> {
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    for (const each of numbers)
      await this.write(`wide/wide-${each}.lisp`, each === number ? special : `(defun wide-${each} () ${each})\n`);
    const components = numbers.map((each) => `(:file "wide-${each}")`).join(" ");
    await this.write("wide/wide.asd", `(defsystem "wide" :serial t :components (${components}))`);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  async start(args: readonly string[] = []): Promise<McpStdio> {
    const server = await McpStdio.start(args);
    await server.evaluate(`(require "asdf")
      (setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${this.folder}/"))
      (push *default-pathname-defaults* asdf:*central-registry*)
      (asdf:initialize-source-registry '(:source-registry :ignore-inherited-configuration))
      (asdf:initialize-output-translations
        (list :output-translations (list t (sb-ext:parse-native-namestring "${this.folder}/fasl/")) :ignore-inherited-configuration))`);
    return server;
  }
}

/** What the suites about load-system share, while a test runs. */
export interface LoadingSuite {
  readonly systems: LoadableSystems;
  readonly server: McpStdio;
  /** The text of an answer of load-system. */
  load(args: Record<string, unknown>): Promise<string>;
}

/** Gives the suite that calls it systems, and a server that finds them. */
export function loadingSuite(): LoadingSuite {
  let started: { readonly systems: LoadableSystems; readonly server: McpStdio } | undefined;
  const state = () => started ?? expect.fail("The systems are there while a test runs.");
  before(async () => {
    const systems = await LoadableSystems.create();
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
    async load(args) {
      return loadText(await state().server.call("load-system", args));
    },
  };
}

/** An answer without frames and the ids of threads, and without where SBCL is installed. */
export function loadText(result: Result): string {
  return blocks(result)
    .join("\n\n")
    .replace(/(?<=\b[Tt]hread )\d+(?=\/)/g, "N")
    .replace(/ [^ ]*\/sbcl\/\*\*\//g, " <sbcl>/**/")
    .replace(/\n\[Backtrace\][\s\S]*?\n\n/g, "\n")
    .replace(/\nLocals of frame[\s\S]*/g, "");
}
