import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { decode, elements, print, printSource, readAll, readWithPositions } from "sexp-parser";
import { findSwank } from "swank-client/launch";
import { runSbcl } from "./sbcl.js";

/**
 * Writes the names of SBCL's features, then for each file on the input the offsets after the top-level forms that SBCL's
 * reader finds, one byte being one char, or `:refused`. Nothing is interned or evaluated.
 */
const FORM_ENDS = `
(progn
  (format *out* "~s~%" (mapcar #'symbol-name *features*))
  (dolist (file (on-the-wire (read *in*)))
    (format *out* "~s~%"
      (handler-case
          (with-open-file (stream file :external-format :latin-1)
            (let ((*read-suppress* t))
              (loop until (eq (read-preserving-whitespace stream nil stream) stream) collect (file-position stream))))
        (error () "refused"))))
  (finish-output *out*))`;

const names = decode.list(decode.string);
const ends = decode.oneOf(decode.list(decode.integer), decode.string);

async function slimeFiles(): Promise<readonly string[]> {
  const folder = await findSwank();
  const files = await readdir(folder, { recursive: true });
  return files.filter((name) => name.endsWith(".lisp")).map((name) => join(folder, name));
}

describe("readWithPositions on the sources of SLIME", () => {
  it("gives trees that print as the files", async () => {
    for (const file of await slimeFiles()) {
      const text = await readFile(file, "latin1");
      expect(printSource(readWithPositions(text)) === text, file).to.equal(true);
    }
  });

  it("finds the top-level forms that SBCL's reader finds with its features", async () => {
    const files = await slimeFiles();
    const [features = "missing", ...answers] = readAll(await runSbcl(FORM_ENDS, print(files)));
    let compared = 0;
    for (const [index, file] of files.entries()) {
      const expected = ends(answers[index] ?? "missing");
      if (typeof expected === "string") continue;
      const tree = readWithPositions(await readFile(file, "latin1"), { features: names(features) });
      expect(
        elements(tree).map(({ end }) => end),
        file,
      ).to.deep.equal(expected);
      compared += 1;
    }
    // SBCL refuses files of other Lisps, whose feature expressions name packages that it lacks.
    expect(compared).to.be.greaterThan(0.7 * files.length);
  });
});
