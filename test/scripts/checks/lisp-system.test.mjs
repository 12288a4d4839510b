import { appendFile, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { checkLispSystem } from "../../../scripts/checks/lisp-system.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

const FAULTS = `
(defun undocumented () 1)
(defun with-faults (unused) "Is not called." (list no-such-variable (1- nil) (no-such-function)))
(export (loop for index below 41 collect (intern (format nil "EXPORTED-~d" index))))
`;

describe("checkLispSystem", () => {
  /** @type {string} */
  let folder;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-client-faults-"));
    await cp(inRepository("packages/swank-client/lisp"), folder, { recursive: true });
    await appendFile(join(folder, "questions", "describe.lisp"), FAULTS);
  });
  after(() => rm(folder, { recursive: true }));

  it("finds style warnings, warnings, definitions without a docstring, and packages that export too much", async () => {
    const problems = (await checkLispSystem(join(folder, "swank-client.asd"))).join("\n");
    for (const word of [/UNUSED is defined but never used/, /NO-SUCH-VARIABLE/, /NO-SUCH-FUNCTION/, /NIL.*NUMBER/]) {
      expect(problems).to.match(word);
    }
    expect(problems).to.match(/SWANK-CLIENT\/QUESTIONS: the function undocumented has no docstring/);
    expect(problems).to.match(/SWANK-CLIENT\/QUESTIONS: it exports \d+ symbols; at most 40 are allowed/);
    expect(problems.split("\n").every((line) => /^(?:describe\.lisp|SWANK-CLIENT\/QUESTIONS): /.test(line))).to.equal(
      true,
    );
  });
});
