import { CL_FUNCTIONS } from "./cl-functions.js";
import type { Profile, StackNode } from "./data.js";

/** A function below certain callers, as a box of the flame graph. */
export interface FlameBox {
  /** Its number among all, the one at the top first. */
  readonly index: number;
  readonly name: string;
  readonly depth: number;
  readonly samples: number;
  readonly self: number;
  /** Samples to the left of it. */
  readonly start: number;
  readonly parent: FlameBox | undefined;
  readonly children: FlameBox[];
}

/** What a flame graph shows. */
export interface Flame {
  readonly root: FlameBox;
  /** All boxes, each before those below it. */
  readonly boxes: readonly FlameBox[];
  /** True if only the hottest path is known, not all stacks. */
  readonly isPath: boolean;
}

/** A box that is shown: its place and width as shares of the zoomed box. */
export interface PlacedBox {
  readonly box: FlameBox;
  readonly left: number;
  readonly width: number;
  /** 0 for the top row. */
  readonly row: number;
}

function ofPath(path: Profile["path"]): StackNode[] {
  return path.map(({ name, samples }, depth) => ({
    depth,
    name,
    samples,
    self: samples - (path[depth + 1]?.samples ?? 0),
  }));
}

/** The boxes of a profile's samples: of its stacks, or else of its hottest path. */
export function flameOf({ stacks, path, samples, outside }: Profile): Flame {
  const nodes = stacks?.nodes ?? ofPath(path);
  const total = Math.max(1, samples);
  const root: FlameBox = {
    index: 0,
    name: "all samples",
    depth: 0,
    samples: total,
    self: outside,
    start: 0,
    parent: undefined,
    children: [],
  };
  const boxes = [root];
  const open: FlameBox[] = [root];
  for (const { depth, name, samples: count, self } of nodes) {
    const parent = open[depth] ?? root;
    const start = parent.children.reduce((end, child) => Math.max(end, child.start + child.samples), parent.start);
    const box = {
      index: boxes.length,
      name,
      depth: parent.depth + 1,
      samples: count,
      self,
      start,
      parent,
      children: [],
    };
    parent.children.push(box);
    open[depth + 1] = box;
    boxes.push(box);
  }
  return { root, boxes, isPath: stacks === undefined };
}

/** Where the boxes are that can be seen while `zoomed` fills the width; those narrower than `least` are left out. */
export function placedBoxes(zoomed: FlameBox, least = 0.0015): PlacedBox[] {
  const above: PlacedBox[] = [];
  for (let box: FlameBox | undefined = zoomed.parent; box !== undefined; box = box.parent) {
    above.push({ box, left: 0, width: 1, row: box.depth });
  }
  const placed = above.reverse();
  const add = (box: FlameBox) => {
    const width = box.samples / zoomed.samples;
    if (width < least) return;
    placed.push({ box, left: (box.start - zoomed.start) / zoomed.samples, width, row: box.depth });
    for (const child of box.children) add(child);
  };
  add(zoomed);
  return placed;
}

/** The boxes whose names contain a text, and the samples below any of them. */
export function matchesOf(flame: Flame, text: string): { readonly found: ReadonlySet<FlameBox>; samples: number } {
  const found = new Set<FlameBox>();
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return { found, samples: 0 };
  let samples = 0;
  const search = (box: FlameBox, isInside: boolean) => {
    const isFound = box.parent !== undefined && box.name.toLowerCase().includes(wanted);
    if (isFound) found.add(box);
    if (isFound && !isInside) samples += box.samples;
    for (const child of box.children) search(child, isInside || isFound);
  };
  search(flame.root, false);
  return { found, samples };
}

/** Where an arrow key leads from a box: up to the caller, down to the call with the most samples, left and right to the calls beside it. */
export function neighbourOf(box: FlameBox, key: string): FlameBox | undefined {
  const siblings = box.parent?.children ?? [];
  const place = siblings.indexOf(box);
  if (key === "ArrowUp") return box.parent;
  if (key === "ArrowDown") return box.children[0];
  if (key === "ArrowLeft") return siblings[place - 1];
  if (key === "ArrowRight") return place < 0 ? undefined : siblings[place + 1];
  return undefined;
}

/** A package whose functions are in a profile. */
export interface FlamePackage {
  /** `Lisp` for all packages of Lisp. */
  readonly name: string;
  /** Samples in which a function of it was the innermost one. */
  readonly self: number;
  /** The number of its colour; `undefined` for Lisp and for packages with few samples. */
  readonly colour: number | undefined;
}

/** The number of colours. */
const COLOURS = 6;

const OF_LISP = "Lisp";

/** In which names are printed. */
const PRINTED_IN = "CL-USER";

/** How the image names the code of an evaluation. */
const EVALUATED = "evaluated code";

const UNNAMED = "unnamed functions";

const LISP_PACKAGE = /^(?:COMMON-LISP|CL|SB-[A-Z0-9-]+|SWANK[A-Z0-9/-]*)$/i;

/** The package of a function; for a local function, that of the function that it is in. */
export function packageOf(name: string): string {
  const outer = name.split(/ :in /i).at(-1) ?? name;
  const plain = outer.replace(/^\((?:[a-z]+ )+/i, "").replace(/^[("]+/, "");
  const colon = plain.indexOf(":");
  const found = colon <= 0 ? "" : plain.slice(0, colon);
  if (name === EVALUATED) return EVALUATED;
  if (/^\(LAMBDA /i.test(outer)) return UNNAMED;
  if (found === "") return CL_FUNCTIONS.has(plain.replace(/[\s)].*$/s, "").toUpperCase()) ? OF_LISP : PRINTED_IN;
  return LISP_PACKAGE.test(found) ? OF_LISP : found;
}

/** The packages of a flame graph, those with the most samples first. */
export function packagesOf({ boxes }: Flame): FlamePackage[] {
  const samples = new Map<string, { self: number; total: number }>();
  for (const { name, self, samples: total, parent } of boxes) {
    if (parent === undefined) continue;
    const known = samples.get(packageOf(name)) ?? { self: 0, total: 0 };
    samples.set(packageOf(name), { self: known.self + self, total: known.total + total });
  }
  const sorted = [...samples].sort(([, one], [, other]) => other.self - one.self || other.total - one.total);
  let next = 0;
  return sorted.map(([name, { self }]) => {
    const isColoured = name !== OF_LISP && next < COLOURS;
    if (isColoured) next += 1;
    return { name, self, colour: isColoured ? next - 1 : undefined };
  });
}
