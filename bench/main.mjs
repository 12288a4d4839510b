import { writeFile } from "node:fs/promises";
import { attaching } from "./figures/attaching.mjs";
import { code } from "./figures/code.mjs";
import { evaluateLisp } from "./figures/evaluate-lisp.mjs";
import { evaluations } from "./figures/evaluations.mjs";
import { heap } from "./figures/heap.mjs";
import { http } from "./figures/http.mjs";
import { largeMessages } from "./figures/large-messages.mjs";
import { page } from "./figures/page.mjs";
import { reading } from "./figures/reading.mjs";
import { roundTrip } from "./figures/round-trip.mjs";
import { serving } from "./figures/serving.mjs";
import { startUp } from "./figures/start-up.mjs";
import { toolsList } from "./figures/tools-list.mjs";
import { otherLoad } from "./load.mjs";
import { announce, settings } from "./measure.mjs";

const RESULTS = new URL("results.json", import.meta.url);

/** Groups of figures, in the order of the table. */
const GROUPS = {
  "tools-list": toolsList,
  "start-up": startUp,
  attaching,
  reading,
  "large-messages": largeMessages,
  "round-trip": roundTrip,
  evaluations,
  "evaluate-lisp": evaluateLisp,
  http,
  page,
  code,
  serving,
  heap,
};

/** Stands for fewer rounds, of all groups but those that take minutes. */
const QUICK = "quick";

const SLOW = ["serving", "heap"];

/**
 * Measures figures, says on standard error what it measures, prints a table, and writes bench/results.json.
 *
 * @param {readonly string[]} args names of groups, all if there are none; `quick` for fewer rounds
 * @returns {Promise<number>} the exit code: 1 if a group could not be measured
 */
export async function main(args = []) {
  settings.isQuick = args.includes(QUICK);
  const names = args.filter((arg) => arg !== QUICK);
  const unknown = names.find((name) => !Object.hasOwn(GROUPS, name));
  if (unknown !== undefined) {
    process.stderr.write(
      `There are no figures named ${unknown}. Name some of: ${Object.keys(GROUPS).join(", ")}, and ${QUICK}.\n`,
    );
    return 1;
  }
  const load = await otherLoad();
  const figures = [];
  const failed = [];
  for (const [name, measure] of Object.entries(GROUPS)) {
    if (names.length > 0 ? !names.includes(name) : settings.isQuick && SLOW.includes(name)) continue;
    announce(name);
    try {
      figures.push(...(await measure()));
    } catch (error) {
      // The other groups take minutes, and their figures hold.
      failed.push(name);
      console.error(`The figures of ${name} could not be measured:`, error);
    }
  }
  process.stdout.write(`${table(figures)}\n${remark(load)}`);
  await writeFile(RESULTS, `${JSON.stringify({ node: process.version, load, figures }, null, 2)}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** @param {Awaited<ReturnType<typeof otherLoad>>} load */
function remark({ busy, average, processors, isTooLoaded }) {
  if (!isTooLoaded) return "";
  const share = `${Math.round(100 * busy)} % of ${processors} processors, load ${average.toFixed(1)}`;
  return `\nThe machine is too loaded for these figures: before the run, other programs took ${share}. Run it again when they have ended.\n`;
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
