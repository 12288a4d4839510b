import { readFile, writeFile } from "node:fs/promises";
import { KINDS, probeColumn } from "./columns.js";
import { GROUPS } from "./probe.js";

/**
 * Probes a kind of image, and writes its column as JSON.
 *
 *     node test/dist/matrix/probe-column.js KIND FILE [GROUP...]
 */
const [kindName, file = "", ...groupNames] = process.argv.slice(2);
const kind = KINDS.find((name) => name === kindName);
if (kind === undefined) throw new Error(`The kinds are ${KINDS.join(", ")}.`);
const groups = GROUPS.filter((name) => groupNames.length === 0 || groupNames.includes(name));
const column = await probeColumn(kind, groups, (row, cell) => {
  if ("wrong" in cell || "fails" in cell) process.stdout.write(`${row}: ${JSON.stringify(cell)}\n`);
});
// A run of some groups keeps the others.
const before = groups.length < GROUPS.length ? JSON.parse(await readFile(file, "utf8").catch(() => "{}")) : {};
const kept = {
  cells: { ...before.cells, ...Object.fromEntries(groups.map((group) => [group, column.cells[group]])) },
  words: { ...before.words, ...column.words },
};
await writeFile(file, `${JSON.stringify({ ...column, ...kept }, undefined, 2)}\n`);
process.exit(0);
