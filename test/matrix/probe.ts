import { SwankError } from "swank-client";
import type { Lab } from "./lab.js";

/** The tables of the matrix. */
export const GROUPS = ["contracts", "tools", "library", "swank"] as const;

export type Group = (typeof GROUPS)[number];

/**
 * How something fares in an image.
 *
 * - `works`: with the facts that the probe expects. The text has the answer's own words, if the probe compares them between images; otherwise it is empty.
 * - `lacks`: it was refused with `NOT_SUPPORTED`. The text is the ability that the image lacks.
 * - `fails`: one of Swank's own functions signals an error. The text is the error.
 * - `wrong`: anything else. The text is the error.
 */
export type Cell =
  | { readonly works: string }
  | { readonly lacks: string }
  | { readonly fails: string }
  | { readonly wrong: string };

/** Tries one thing in an image. Returns the answer's own words, if they are to be compared; throws if anything is not as expected. */
export type Probe = (lab: Lab) => Promise<string | undefined>;

/** The rows of a table, in its order. Several probes of a row are several calls of one thing. */
export type Probes = readonly (readonly [row: string, probe: Probe])[];

/** A refusal of a tool because the image lacks an ability. */
export class Lacking extends Error {
  readonly ability: string;

  constructor(ability: string) {
    super(`The image lacks ${ability}.`);
    this.ability = ability;
  }
}

/** What a probe's error means. */
export function cellOf(error: unknown): Cell {
  if (error instanceof Lacking) return { lacks: error.ability };
  if (error instanceof SwankError && error.code === "NOT_SUPPORTED")
    return { lacks: error.details.ability ?? error.details.operation ?? "" };
  const code = error instanceof SwankError ? `${error.code}: ` : "";
  const [line = ""] = `${code}${error instanceof Error ? error.message : String(error)}`.split(/\n\s*(?:at )?/);
  return { wrong: line.slice(0, 300) };
}

/** The same for a call of one of Swank's functions. */
export function cellOfSwank(error: unknown): Cell {
  const cell = cellOf(error);
  const isSwanks = error instanceof SwankError && error.code === "REQUEST_FAILED" && "wrong" in cell;
  return isSwanks ? { fails: cell.wrong } : cell;
}

/** The cell of a row with several probes: the worst one. */
export function worse(one: Cell, other: Cell): Cell {
  const rank = (cell: Cell) => ("wrong" in cell || "fails" in cell ? 2 : "lacks" in cell ? 1 : 0);
  return rank(other) > rank(one) ? other : one;
}

/** Fails unless a text matches. */
export function expectMatch(text: string, pattern: RegExp): string {
  if (!pattern.test(text)) throw new Error(`${JSON.stringify(text.slice(0, 200))} does not match ${pattern}`);
  return text;
}
