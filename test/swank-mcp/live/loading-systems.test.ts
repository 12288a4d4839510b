import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

const FILES = ["packages", "lexer", "parser", "closures", "api"];

/** Definitions that cause several compiler notes and a style warning each. */
function noisy(file: string): string {
  const functions = [...Array(12).keys()].map(
    (n) => `(defun ${file}-${n} (x y unused) (declare (optimize speed)) (+ (* x y) (- x y)))`,
  );
  return [...functions, `(defmacro ${file}-macro (x) x)`].join("\n");
}

describe("evaluate-lisp that loads files", () => {
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "loading-"));
    server = await McpStdio.start();
    for (const file of FILES) await writeFile(join(folder, `${file}.lisp`), noisy(file));
    const components = FILES.map((file) => `(:file "${file}")`).join(" ");
    await writeFile(join(folder, "noisy.asd"), `(asdf:defsystem "noisy" :serial t :components (${components}))`);
    await server.evaluate(
      `(setf *default-pathname-defaults* #p"${folder}/") (require "asdf") (asdf:load-asd "${join(folder, "noisy.asd")}")
       (asdf:initialize-output-translations '(:output-translations (t "${folder}/fasl/") :ignore-inherited-configuration))`,
    );
  });

  after(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  it("counts the warnings of a system by file and type", async () => {
    const answer = await server.evaluate('(asdf:load-system "noisy" :force t)');
    expect(answer.join("").length).to.be.below(2000);
    snapshots.match("a noisy system", answer.join("\n\n").replace(/\d+ not shown.*/g, counted));
  });

  it("counts its redefinitions by file", async () => {
    const [, note] = await server.evaluate('(asdf:load-system "noisy" :force t)');
    expect(note).to.equal(`65 redefinitions: ${FILES.map((file) => `${file}.lisp 13`).join(", ")}`);
  });

  it("sends the names of files being compiled as progress", async () => {
    const file = join(folder, "slow.lisp");
    await writeFile(file, "(defun slow () 1)\n(eval-when (:compile-toplevel) (sleep 1))\n");
    const call = server.startCall("evaluate-lisp", { code: `(rest (multiple-value-list (compile-file "${file}")))` });
    expect((await server.progressOf(call)).params).to.have.property("message", "Compiling slow.lisp");
    expect(blocks(await call.result)).to.deep.equal(["=> (NIL NIL)"]);
  });

  it("shows the full warnings and the errors of a file, and a few style warnings", async () => {
    const file = join(folder, "bad.lisp");
    await writeFile(
      file,
      '(defun bad-type () (+ 1 "2"))\n(defun bad-style (unused) (bad-undefined))\n(defun bad-if () (if))\n(defun fine () 1)\n',
    );
    const result = await server.call("evaluate-lisp", {
      code: `(rest (multiple-value-list (compile-file "${file}")))`,
    });
    snapshots.match("a file with warnings and an error", blocks(result).join("\n\n").replaceAll(`${folder}/`, ""));
  });

  it("counts the errors and warnings of a file for which there is no room", async () => {
    const file = join(folder, "broken.lisp");
    await writeFile(
      file,
      `${'(defun broken (unused) (if))\n(warn "loading")\n'.repeat(20)}(defun fine () (no-such-function))\n`,
    );
    const [report = ""] = await server.evaluate(`(load "${file}")`);
    expect(report.length).to.be.below(2000);
    snapshots.match("a file with many errors", report.replaceAll(`${folder}/`, ""));
  });
});

/** The line without its numbers, which depend on SBCL. */
function counted(line: string): string {
  return line.replace(/\d+/g, "<n>");
}

snapshots.testCompleteness();
