import { readFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { code, prose, table } from "./markdown.mjs";

/** @typedef {{ lisp: string, server: string, cells: Record<string, Record<string, string>>, words: Record<string, string> }} Column what a run has found */
/** @typedef {{ name: string, heading: string, column: Column | undefined }} Shown a column; `column` is undefined if it has not been run */

/** The columns, in the order of the tables, with what they are called until they have been run. */
export const COLUMNS = [
  { name: "bookworm", heading: "SBCL, Swank (bookworm)" },
  { name: "trixie", heading: "SBCL, Swank (trixie)" },
  { name: "sid", heading: "SBCL, Swank (sid)" },
  { name: "bookworm-slime", heading: "SBCL, SLIME's source (bookworm)" },
  { name: "sid-slime", heading: "SBCL, SLIME's source (sid)" },
  { name: "slynk", heading: "SBCL, Slynk" },
  { name: "ecl", heading: "ECL" },
  { name: "abcl", heading: "ABCL" },
  { name: "clisp", heading: "CLISP" },
];

const GROUPS = [
  { name: "contracts", title: "The contracts' examples", head: "example" },
  { name: "tools", title: "Tools of `swank-mcp`", head: "tool" },
  { name: "library", title: "Methods and functions of `swank-client`", head: "call" },
  { name: "swank", title: "Swank's functions, in `swank-client/swank`", head: "function" },
];

/** The file with what a run of a column has found. @param {string} name */
export function columnFile(name) {
  return inRepository(`docs/matrix/${name}.json`);
}

/** The tables of every column that has been run. */
export async function matrixTables() {
  const read = COLUMNS.map(async ({ name, heading }) => {
    const text = await readFile(columnFile(name), "utf8").catch(() => undefined);
    /** @type {Column | undefined} */
    const column = text === undefined ? undefined : JSON.parse(text);
    return { name, heading: column === undefined ? heading : versions(column), column };
  });
  return tablesOf(await Promise.all(read));
}

/** @param {Column} column */
function versions({ lisp, server }) {
  return `${lisp.replace("Armed Bear Common Lisp", "ABCL").replace(/\.debian$/, "")}, ${server}`;
}

/** @param {readonly Shown[]} shown */
export function tablesOf(shown) {
  const parts = GROUPS.flatMap(({ name, title, head }) => [`### ${title}`, groupTable(shown, name, head)]);
  return [...parts, "### Other words", wordTables(shown), "### Errors", faults(shown)].join("\n\n");
}

/** @param {readonly Shown[]} shown @param {string} group @param {string} head */
function groupTable(shown, group, head) {
  const rows = rowsOf(shown, group).map((row) => [
    row.includes(": ") ? prose(row) : code(row),
    ...shown.map((each) => cellOf(each, group, row, referenceOf(shown, row))),
  ]);
  return table([head, ...shown.map(({ heading }) => heading)], rows);
}

/** The rows of all columns, in the order of the first one. @param {readonly Shown[]} shown @param {string} group */
function rowsOf(shown, group) {
  return [...new Set(shown.flatMap(({ column }) => Object.keys(column?.cells[group] ?? {})))];
}

/** @param {Shown} shown @param {string} group @param {string} row @param {string | undefined} reference */
function cellOf({ column }, group, row, reference) {
  const cell = column?.cells[group]?.[row];
  if (cell === undefined) return "not run";
  if (cell.startsWith("wrong: ")) return "**wrong**";
  if (cell.startsWith("fails: ")) return "error";
  if (cell !== "works") return noText(cell.slice("lacks ".length));
  return column?.words[row] === reference ? "works" : "other words";
}

/** An ability that the image lacks; its server lacks the function itself if that has a package. @param {string} lacking */
function noText(lacking) {
  return lacking.includes(":") ? "no" : `no: ${lacking}`;
}

/** The words of the first column that has some. @param {readonly Shown[]} shown @param {string} row */
function referenceOf(shown, row) {
  return shown.map(({ column }) => column?.words[row]).find((words) => words !== undefined);
}

/** For each example whose words differ: the words, and the columns that have them. @param {readonly Shown[]} shown */
function wordTables(shown) {
  const tables = rowsOf(shown, "contracts").flatMap((row) => {
    /** @type {Map<string, string[]>} */
    const columns = new Map();
    for (const { heading, column } of shown) {
      const words = column?.words[row];
      if (words !== undefined) columns.set(words, [...(columns.get(words) ?? []), heading]);
    }
    if (columns.size < 2) return [];
    return [
      `**${prose(row)}**`,
      table(
        [...columns.values()].map((names) => names.join("; ")),
        [[...columns.keys()].map(lines)],
      ),
    ];
  });
  return tables.length === 0 ? "There are none." : tables.join("\n\n");
}

/** Some lines as one cell of a table. @param {string} text */
function lines(text) {
  return text
    .split("\n")
    .map((line) => (line.trim() === "" ? "" : code(line)))
    .join("<br>");
}

/** @param {readonly Shown[]} shown */
function faults(shown) {
  const rows = GROUPS.flatMap(({ name }) =>
    shown.flatMap(({ heading, column }) =>
      Object.entries(column?.cells[name] ?? {}).flatMap(([row, cell]) =>
        /^(?:wrong|fails): /.test(cell) ? [[code(row), heading, code(cell.slice("wrong: ".length))]] : [],
      ),
    ),
  );
  return rows.length === 0 ? "There are none." : table(["row", "image", "error"], rows);
}
