import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { type Column, type Kind, PROBES, probeColumn } from "./columns.js";
import { GROUPS, type Group } from "./probe.js";

const MATRIX = new URL("../../../docs/matrix/", import.meta.url);

async function written(name: string): Promise<Column> {
  return JSON.parse(await readFile(new URL(`${name}.json`, MATRIX), "utf8"));
}

/** Probes an image again, and compares what is found with its column. */
async function expectColumn(kind: Kind, name: string, groups: readonly Group[]): Promise<void> {
  const [found, known] = [await probeColumn(kind, groups), await written(name)];
  for (const group of groups) expect(found.cells[group], group).to.deep.equal(known.cells[group]);
  // Another version may say it in other words.
  if (found.lisp !== known.lisp || found.server !== known.server) return;
  for (const [row, words] of Object.entries(found.words)) expect(words, row).to.equal(known.words[row]);
}

describe("the matrix of docs/compatibility.md", function () {
  // The first start of ECL compiles Swank.
  this.timeout(600_000);

  it("has a row for every tool, every example of the contracts, and every function of the library, in each column", async () => {
    const files = await readdir(MATRIX);
    for (const file of files) {
      const { cells } = await written(file.replace(".json", ""));
      for (const group of GROUPS) {
        const rows = new Set(PROBES[group].map(([row]) => row));
        expect(new Set(Object.keys(cells[group])), `${file}: ${group}`).to.deep.equal(rows);
      }
    }
  });

  it("tells what the installed SBCL does", () => expectColumn("sbcl", "bookworm", ["contracts", "tools"]));

  it("tells what ECL does", () => expectColumn("ecl", "ecl", ["contracts", "tools", "library"]));
});
