import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

const FILES = ["packages", "lexer", "parser", "closures", "api"];

/** Definitions that cause several compiler notes and a style warning each. */
function noisy(file: string): string {
  const functions = [...Array(12).keys()].map(
    (n) => `(defun ${file}-${n} (x y unused) (declare (optimize speed)) (+ (* x y) (- x y)))`,
  );
  return [...functions, `(defmacro ${file}-macro (x) x)`].join("\n");
}

describe("evaluate-lisp that loads files", () => {
  const folder = liveFolder("loading");
  const server = liveServer();
  before(async () => {
    for (const file of FILES) await writeFile(join(folder, `${file}.lisp`), noisy(file));
    const components = FILES.map((file) => `(:file "${file}")`).join(" ");
    await writeFile(join(folder, "noisy.asd"), `(asdf:defsystem "noisy" :serial t :components (${components}))`);
    await server.evaluate(
      `(setf *default-pathname-defaults* #p"${folder}/") (require "asdf") (asdf:load-asd "${join(folder, "noisy.asd")}")
       (asdf:initialize-output-translations '(:output-translations (t "${folder}/fasl/") :ignore-inherited-configuration))`,
    );
  });

  it("counts the warnings of a system by file and type", async () => {
    const answer = await server.evaluate('(asdf:load-system "noisy" :force t)');
    expect(answer.join("").length).to.be.below(2000);
    expect(answer[0]).to.match(
      /^\[warnings\]\n(STYLE|COMPILER)-WARNING: \d+ not shown: packages\.lisp \d+, lexer\.lisp \d+, .*\n/,
    );
    expect(answer[0]).to.match(/\nCOMPILER-WARNING: \d+ not shown: .*, api\.lisp \d+\n\n=> T$/);
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
    expectFacts(
      blocks(result).join("\n\n").replaceAll(`${folder}/`, ""),
      "[warnings]\nERROR: bad.lisp, in (DEFUN BAD-IF): Error while parsing arguments to special operator IF",
      "WARNING: bad.lisp, in (DEFUN BAD-TYPE)…STYLE-WARNING: bad.lisp, in (DEFUN BAD-STYLE)…undefined function: COMMON-LISP-USER::BAD-UNDEFINED\nCOMPILER-WARNING: 1 not shown: bad.lisp 1\n\n=> (T T)",
    );
  });

  it("counts the errors and warnings of a file for which there is no room", async () => {
    const file = join(folder, "broken.lisp");
    await writeFile(
      file,
      `${'(defun broken (unused) (if))\n(warn "loading")\n'.repeat(20)}(defun fine () (no-such-function))\n`,
    );
    const [report = ""] = await server.evaluate(`(load "${file}")`);
    expect(report.length).to.be.below(2000);
    expectFacts(
      report.replaceAll(`${folder}/`, ""),
      "ERROR: broken.lisp, in (DEFUN BROKEN)…ERROR: 16 not shown: broken.lisp 16\nWARNING: 20 not shown: broken.lisp 20\nSTYLE-WARNING: 21 not shown: broken.lisp 21\n\n=> T",
    );
  });
});
