import { startOtherLisp } from "../support/other-lisps.js";
import { startRealSwank } from "../support/real-swank.js";
import { CONTRACT_PROBES } from "./contract-probes.js";
import { Lab, type ProbedImage, within } from "./lab.js";
import { LIBRARY_PROBES } from "./library-probes.js";
import { type Cell, cellOf, cellOfSwank, GROUPS, type Group, type Probe, type Probes, worse } from "./probe.js";
import { SWANK_PROBES } from "./swank-probes.js";
import { TOOL_PROBES } from "./tool-probes.js";

/** The images that a column can be of. `sbcl` is the one that the environment names, with Swank. */
export const KINDS = ["sbcl", "slynk", "ecl", "abcl", "clisp"] as const;

export type Kind = (typeof KINDS)[number];

export const PROBES: Readonly<Record<Group, Probes>> = {
  contracts: CONTRACT_PROBES,
  tools: TOOL_PROBES,
  library: LIBRARY_PROBES,
  swank: SWANK_PROBES,
};

/** What the probes of a column have found, as docs/matrix has it. */
export interface Column {
  /** The version of the Lisp, such as `ECL 21.2.1`. */
  readonly lisp: string;
  /** That of its server, such as `Swank 2.27`. */
  readonly server: string;
  /** `works`, `lacks ABILITY`, `fails: ERROR` or `wrong: ERROR` for each row. */
  readonly cells: Readonly<Record<Group, Readonly<Record<string, string>>>>;
  /** The answers whose words are compared. */
  readonly words: Readonly<Record<string, string>>;
}

function cellText(cell: Cell): string {
  if ("works" in cell) return "works";
  if ("lacks" in cell) return `lacks ${cell.lacks}`;
  return "fails" in cell ? `fails: ${cell.fails}` : `wrong: ${cell.wrong}`;
}

/** Milliseconds that a probe may take, beside the start of an image. */
const PROBE_TIME = 300_000;

function starting(kind: Kind): () => Promise<ProbedImage> {
  if (kind === "sbcl") return () => startRealSwank(undefined, 0, undefined, "swank");
  if (kind === "slynk") return () => startRealSwank(undefined, 0, undefined, "slynk");
  return () => startOtherLisp(kind);
}

/** Runs the probes of some groups in new images of a kind. */
export async function probeColumn(
  kind: Kind,
  groups: readonly Group[] = GROUPS,
  report: (row: string, cell: Cell) => void = () => undefined,
): Promise<Column> {
  const cells: Record<Group, Record<string, string>> = { contracts: {}, tools: {}, library: {}, swank: {} };
  const words: Record<string, string> = {};
  const lab = new Lab(starting(kind));
  const { lisp, server } = await versionsOf(lab);
  for (const group of groups) {
    const found: Record<string, Cell> = {};
    for await (const [row, cell] of probed(lab, group)) {
      report(row, cell);
      const before = found[row];
      found[row] = before === undefined ? cell : worse(before, cell);
      if ("works" in cell && cell.works !== "") words[row] = cell.works;
    }
    for (const [row, cell] of Object.entries(found)) cells[group][row] = cellText(cell);
    await lab.end();
  }
  await lab.end();
  return { lisp, server, cells, words };
}

async function versionsOf(lab: Lab) {
  const { info, abilities } = await lab.client();
  const server = abilities.server === "slynk" ? "Slynk" : "Swank";
  return { lisp: abilities.implementation, server: `${server} ${info.version}` };
}

/** What the probes of a group find, one after the other. */
async function* probed(lab: Lab, group: Group): AsyncGenerator<readonly [row: string, cell: Cell]> {
  for (const [row, probe] of PROBES[group]) {
    yield [row, await cellFrom(probe, lab, group === "swank" ? cellOfSwank : cellOf)];
    // the calls of tools follow each other
    if (group !== "tools") await lab.tidy();
  }
}

async function cellFrom(probe: Probe, lab: Lab, failed: (error: unknown) => Cell): Promise<Cell> {
  try {
    // a Lisp other than SBCL may take a while to start
    await lab.port();
    return { works: (await within(PROBE_TIME, () => probe(lab))) ?? "" };
  } catch (error) {
    return failed(error);
  }
}
