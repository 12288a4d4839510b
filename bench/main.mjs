import { writeFile } from "node:fs/promises";
import { evaluateLisp } from "./figures/evaluate-lisp.mjs";
import { largeMessages } from "./figures/large-messages.mjs";
import { reading } from "./figures/reading.mjs";
import { roundTrip } from "./figures/round-trip.mjs";
import { startUp } from "./figures/start-up.mjs";
import { toolsList } from "./figures/tools-list.mjs";

const RESULTS = new URL("results.json", import.meta.url);

/** All figures, in the order of the table. */
const FIGURES = [toolsList, startUp, reading, largeMessages, roundTrip, evaluateLisp];

/** Measures every figure, prints a table, and writes bench/results.json. */
export async function main() {
  const figures = [];
  for (const measure of FIGURES) figures.push(...(await measure()));
  process.stdout.write(`${table(figures)}\n`);
  await writeFile(RESULTS, `${JSON.stringify({ node: process.version, figures }, null, 2)}\n`);
}

/** @param {readonly import("./measure.mjs").Figure[]} figures */
function table(figures) {
  const rows = figures.map(({ name, value, unit, of = "", against = "" }) => [
    name,
    unit === "ratio" ? `${value.toPrecision(3)} x` : `${value} ${unit}`,
    of,
    against,
  ]);
  const all = [["figure", "value", "of", "against"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
