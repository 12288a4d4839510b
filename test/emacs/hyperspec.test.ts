import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { standardPlaces, syntaxPlaces } from "#swank-mcp/report/hyperspec.js";
import { slimeFolder } from "../support/emacs-process.js";

/** The entries `("NAME" "PAGE.htm")` of a table in SLIME's hyperspec.el. */
async function entries(from: string, to: string): Promise<readonly (readonly [name: string, page: string])[]> {
  const folder = await slimeFolder();
  const text = await readFile(join(folder, "lib/hyperspec.el"), "utf8");
  const table = text.slice(text.indexOf(from), text.indexOf(to));
  return Array.from(table.matchAll(/\("((?:[^"\\]|\\.)*)"\s+"([^"]+\.htm)"\)/g), ([, name = "", page = ""]) => [
    name.replace(/\\(.)/g, "$1"),
    page,
  ]);
}

const pagesOf = (places: readonly { readonly url: string }[]) => places.map(({ url }) => url.replace(/^.*\//, ""));

describe("The HyperSpec's pages", () => {
  it("are those that SLIME knows", async () => {
    const symbols = await entries("(mapc (lambda (entry)", "common-lisp-hyperspec--reader-macros");
    expect(symbols.length).to.equal(978);
    for (const [name, page] of symbols)
      expect(pagesOf(standardPlaces(`COMMON-LISP::${name.toUpperCase()}`)), name).to.deep.equal([page]);
    const macros = await entries("common-lisp-hyperspec--reader-macros", "common-lisp-hyperspec-lookup-reader-macro");
    expect(macros.length).to.equal(28);
    for (const [name, page] of macros) expect(pagesOf(syntaxPlaces(name)), name).to.deep.equal([page]);
  });
});
