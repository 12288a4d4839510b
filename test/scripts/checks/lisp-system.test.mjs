import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { checkLispSystem } from "../../../scripts/checks/lisp-system.mjs";

const SYSTEMS = `
(asdf:defsystem "swank-client" :components ((:file "faulty")))
(asdf:defsystem "swank-client/launch" :components ())
(asdf:defsystem "swank-client/portable" :components ())
`;

const FAULTS = `
(defpackage #:swank-client/faulty (:use #:cl) (:documentation "Has faults."))
(defpackage #:swank-client/undocumented (:use))
(in-package #:swank-client/faulty)
(defun undocumented () 1)
(defun documented () "Is right." 2)
(defun with-faults (unused) "Is not called." (list no-such-variable (1- nil) (no-such-function)))
(export (loop for index below 41 collect (intern (format nil "EXPORTED-~d" index))))
`;

describe("checkLispSystem", () => {
  /** @type {string} */
  let folder;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-client-faults-"));
    await writeFile(join(folder, "swank-client.asd"), SYSTEMS);
    await writeFile(join(folder, "faulty.lisp"), FAULTS);
  });
  after(() => rm(folder, { recursive: true }));

  it("finds warnings, definitions and packages without a docstring, and packages that export too much", async () => {
    const problems = await checkLispSystem(join(folder, "swank-client.asd"));
    const expected = [
      /^faulty\.lisp: .*UNUSED is defined but never used/,
      /^faulty\.lisp: .*NO-SUCH-VARIABLE/,
      /^faulty\.lisp: .*NO-SUCH-FUNCTION/,
      /^faulty\.lisp: .*NIL.*NUMBER/,
      /^SWANK-CLIENT\/FAULTY: the function undocumented has no docstring$/,
      /^SWANK-CLIENT\/FAULTY: it exports 41 symbols; at most 40 are allowed/,
      /^SWANK-CLIENT\/UNDOCUMENTED: the package has no documentation$/,
    ];
    for (const pattern of expected)
      expect(
        problems.some((line) => pattern.test(line)),
        `${pattern}`,
      ).to.equal(true);
    expect(problems.filter((line) => !expected.some((pattern) => pattern.test(line)))).to.deep.equal([]);
  });
});
