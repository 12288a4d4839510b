import type { ProgramThread } from "./data.js";

/** A thread that waits for another one, or that another one waits for. */
export interface WaitNode {
  readonly id: number;
  readonly name: string;
  /** In a cycle of threads that wait for each other. */
  readonly isInCycle: boolean;
  /** Number of further threads that wait for the same, for a node that stands for them all. */
  readonly others?: number;
}

/** `from` waits for `to`. */
export interface Wait {
  readonly from: number;
  readonly to: number;
  /** What it waits for: the lock, or the end of the thread. */
  readonly label: string;
  /** False if the object that it waits for only names the other thread, which need not be the one that ends the wait. */
  readonly isCertain: boolean;
  readonly isInCycle: boolean;
}

/** Who waits for whom. */
export interface WaitGraph {
  readonly nodes: readonly WaitNode[];
  readonly waits: readonly Wait[];
}

/** A node with the place of its centre. */
export interface PlacedNode {
  readonly node: WaitNode;
  readonly x: number;
  readonly y: number;
}

/** An arrow, and the place of its label. */
export interface PlacedWait {
  readonly wait: Wait;
  /** The `d` of an SVG path. */
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "middle" | "end";
  /** False where the arrow beside it has the same label. */
  readonly isLabelled: boolean;
}

/** A drawing of some threads. */
export interface WaitDrawing {
  /** The place of its upper left corner. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly waits: readonly PlacedWait[];
}

/** The size of a node. */
export const NODE_WIDTH = 152;

export const NODE_HEIGHT = 46;

/** Most threads that are drawn of those that wait for the same one. */
const MOST_WAITING = 4;

type Thread = Pick<ProgramThread, "id" | "name" | "state" | "what" | "holder" | "recorded" | "place">;

function waitsOf({ id, state, what, holder, recorded = [], place }: Thread): Wait[] {
  const base = { from: id, isInCycle: false };
  if (holder !== undefined) {
    return [{ ...base, to: holder, label: what ?? (state === "join" ? "its end" : state), isCertain: true }];
  }
  return recorded.flatMap(({ slot, thread }) =>
    thread === 0 || thread === id ? [] : [{ ...base, to: thread, label: what ?? place ?? slot, isCertain: false }],
  );
}

/** The threads that can be reached from each thread. */
function reachable(waits: readonly Wait[], from: number): Set<number> {
  const seen = new Set<number>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const { to } of waits.filter((wait) => wait.from === id)) {
      if (seen.has(to)) continue;
      seen.add(to);
      open.push(to);
    }
  }
  return seen;
}

/** Finds who waits for whom. Threads that nobody waits for, and that wait for nobody, are not in it. */
export function waitGraph(threads: readonly Thread[]): WaitGraph {
  const found = threads.flatMap(waitsOf);
  const ids = [...new Set(found.flatMap(({ from, to }) => [from, to]))];
  const reached = new Map(ids.map((id) => [id, reachable(found, id)]));
  const isInCycle = (id: number) => reached.get(id)?.has(id) === true;
  const waits = found.map((wait) => ({
    ...wait,
    isInCycle: isInCycle(wait.from) && reached.get(wait.to)?.has(wait.from) === true,
  }));
  const nodes = ids.map((id) => ({
    id,
    name: threads.find((thread) => thread.id === id)?.name ?? "unknown thread",
    isInCycle: isInCycle(id),
  }));
  return { nodes, waits };
}

/** A node of the tree of those that wait for another one. */
interface Branch {
  readonly node: WaitNode;
  readonly branches: readonly Branch[];
}

/** The threads outside cycles that wait for a thread, directly or not. Many are drawn as one. */
function branchesOf(graph: WaitGraph, id: number, seen: Set<number>): Branch[] {
  const waiting = graph.waits
    .filter(({ to, isInCycle }) => to === id && !isInCycle)
    .flatMap(({ from }) => graph.nodes.filter((node) => node.id === from && !node.isInCycle && !seen.has(node.id)));
  for (const { id: each } of waiting) seen.add(each);
  const shown = waiting.length <= MOST_WAITING ? waiting : waiting.slice(0, MOST_WAITING - 1);
  const rest = waiting.length - shown.length;
  const branches = shown.map((node) => ({ node, branches: branchesOf(graph, node.id, seen) }));
  const others = { node: { id: -id, name: "", isInCycle: false, others: rest }, branches: [] };
  return rest === 0 ? branches : [...branches, others];
}

/** The drawings of a graph, one for threads that have nothing to do with those of the others, cycles first. */
export function waitDrawings(graph: WaitGraph): WaitDrawing[] {
  const seen = new Set<number>();
  const cycles = cyclesOf(graph).map((cycle) => drawing(graph, cycle, seen));
  const ends = graph.nodes.filter(({ id }) => graph.waits.every(({ from }) => from !== id));
  return [...cycles, ...ends.filter(({ id }) => !seen.has(id)).map((end) => drawing(graph, [end], seen))];
}

/** The nodes of each cycle, each before the one that it waits for. */
function cyclesOf({ nodes, waits }: WaitGraph): WaitNode[][] {
  const cycles: WaitNode[][] = [];
  const seen = new Set<number>();
  for (const start of nodes.filter(({ isInCycle }) => isInCycle)) {
    const cycle: WaitNode[] = [];
    const take = (node: WaitNode) => {
      if (seen.has(node.id)) return;
      seen.add(node.id);
      cycle.push(node);
      for (const { to } of waits.filter(({ from, isInCycle }) => isInCycle && from === node.id)) {
        for (const next of nodes.filter(({ id }) => id === to)) take(next);
      }
    };
    take(start);
    if (cycle.length > 0) cycles.push(cycle);
  }
  return cycles;
}

const GAP_X = 24;

const GAP_Y = 72;

/** Room around a drawing. */
const MARGIN = 8;

/** Most letters of a label that are shown, and the width of a letter. */
export const LABEL_LETTERS = 22;

const LETTER_WIDTH = 7.4;

/** Between two threads that wait for each other, there is room for a label. */
const CYCLE_GAP = 176;

function widthOf({ branches }: Branch): number {
  const below = branches.reduce((sum, branch) => sum + widthOf(branch) + GAP_X, -GAP_X);
  return Math.max(NODE_WIDTH, below);
}

/** Draws threads on a circle, or a single one, and below them the trees of those that wait for them. */
function drawing(graph: WaitGraph, heads: readonly WaitNode[], seen: Set<number>): WaitDrawing {
  for (const { id } of heads) seen.add(id);
  const nodes: PlacedNode[] = circle(heads);
  const bottom = Math.max(...nodes.map(({ y }) => y));
  const trees = nodes.map(({ node, x }) => ({ x, branches: branchesOf(graph, node.id, seen) }));
  let left = Number.NEGATIVE_INFINITY;
  const place = ({ node, branches }: Branch, x: number, y: number) => {
    nodes.push({ node, x, y });
    placeAll(branches, x, y + NODE_HEIGHT + GAP_Y);
  };
  const placeAll = (branches: readonly Branch[], middle: number, y: number) => {
    const width = branches.reduce((sum, branch) => sum + widthOf(branch) + GAP_X, -GAP_X);
    let start = middle - width / 2;
    for (const branch of branches) {
      place(branch, start + widthOf(branch) / 2, y);
      start += widthOf(branch) + GAP_X;
    }
  };
  for (const { x, branches } of [...trees].sort((one, other) => one.x - other.x)) {
    if (branches.length === 0) continue;
    const width = branches.reduce((sum, branch) => sum + widthOf(branch) + GAP_X, -GAP_X);
    const middle = Math.max(x, left + width / 2);
    placeAll(branches, middle, bottom + NODE_HEIGHT + GAP_Y);
    left = middle + width / 2 + GAP_X;
  }
  return framed(nodes, graph.waits, heads.length);
}

function circle(heads: readonly WaitNode[]): PlacedNode[] {
  const [only] = heads;
  if (only !== undefined && heads.length === 1) return [{ node: only, x: 0, y: 0 }];
  if (heads.length === 2) {
    return heads.map((node, index) => ({ node, x: (index - 0.5) * (NODE_WIDTH + CYCLE_GAP), y: 0 }));
  }
  const apart = NODE_WIDTH + 96;
  const radius = apart / (2 * Math.sin(Math.PI / heads.length));
  return heads.map((node, index) => {
    const angle = (2 * Math.PI * index) / heads.length - Math.PI / 2;
    return { node, x: radius * Math.cos(angle), y: radius * 0.62 * Math.sin(angle) };
  });
}

/** Adds the arrows, and moves the drawing to the origin. */
function framed(places: readonly PlacedNode[], waits: readonly Wait[], heads: number): WaitDrawing {
  const nodes = places.map(({ node, x, y }) => ({ node, x: Math.round(x), y: Math.round(y) }));
  const ring = nodes.slice(0, heads);
  const centre = {
    x: ring.reduce((sum, { x }) => sum + x, 0) / heads,
    y: ring.reduce((sum, { y }) => sum + y, 0) / heads,
  };
  const drawn = nodes.flatMap(({ node, x, y }) =>
    waits
      .concat(node.others === undefined ? [] : [ofOthers(node)])
      .filter(({ from }) => from === node.id)
      .flatMap((wait) => {
        const to = nodes.find((place) => place.node.id === wait.to);
        return to === undefined ? [] : [arrow(wait, { x, y }, to, centre)];
      }),
  );
  const arrows = withoutRepetitions(drawn, nodes);
  const boxes = [...nodes.map(nodeBox), ...arrows.map(labelBox)];
  const left = Math.min(...boxes.map((box) => box.left)) - MARGIN;
  const top = Math.min(...boxes.map((box) => box.top)) - MARGIN;
  return {
    left: Math.floor(left),
    top: Math.floor(top),
    width: Math.ceil(Math.max(...boxes.map(({ right }) => right)) + MARGIN - left),
    height: Math.ceil(Math.max(...boxes.map(({ bottom }) => bottom)) + MARGIN - top),
    nodes,
    waits: arrows,
  };
}

/** The arrow of a node that stands for several threads; its target has the negative number. */
function ofOthers({ id }: WaitNode): Wait {
  return { from: id, to: -id, label: "", isCertain: true, isInCycle: false };
}

/** Labels arrows to the same thread once, below that, if all have the same label. */
function withoutRepetitions(arrows: readonly PlacedWait[], nodes: readonly PlacedNode[]): PlacedWait[] {
  return arrows.map((each) => {
    const { to, label, isInCycle } = each.wait;
    const beside = arrows.filter(({ wait }) => wait.to === to && !wait.isInCycle && wait.label !== "");
    const isSame = beside.every(({ wait }) => wait.label === label);
    if (isInCycle || beside.length < 2 || !isSame) return { ...each, isLabelled: label !== "" };
    const target = nodes.find(({ node }) => node.id === to);
    const row = Math.max(each.y, ...beside.map(({ y }) => y));
    return { ...each, x: target?.x ?? each.x, y: row, isLabelled: each === beside[0] };
  });
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function nodeBox({ x, y }: PlacedNode): Box {
  return {
    left: x - NODE_WIDTH / 2,
    right: x + NODE_WIDTH / 2,
    top: y - NODE_HEIGHT / 2,
    bottom: y + NODE_HEIGHT / 2,
  };
}

const STARTS = { start: 0, middle: 0.5, end: 1 } as const;

function labelBox({ wait, x, y, anchor, isLabelled }: PlacedWait): Box {
  const width = isLabelled ? Math.min(wait.label.length, LABEL_LETTERS) * LETTER_WIDTH : 0;
  const left = x - width * STARTS[anchor];
  return { left, right: left + width, top: y - 9, bottom: y + 9 };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How far arrows of a cycle are bent away from its centre, and their labels are from them. */
const BEND = 40;

const LABEL_GAP = 11;

/** An arrow. Within a cycle it is bent away from the centre, so that two opposite ones can be told apart, and its label is outside. */
function arrow(wait: Wait, from: Point, to: Point, centre: Point): PlacedWait {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const away = (middle.x - centre.x) * dy - (middle.y - centre.y) * dx < -1 ? -1 : 1;
  const outward = { x: (away * dy) / length, y: (-away * dx) / length };
  const bend = wait.isInCycle ? BEND : 0;
  const control = { x: middle.x + outward.x * bend, y: middle.y + outward.y * bend };
  const start = edge(from, control);
  const end = edge(to, control);
  const path = `M${text(start)} Q${text(control)} ${text(end)}`;
  if (!wait.isInCycle) {
    // Next to the thread that waits, because the arrows come together at the other one.
    const label = { x: start.x + (end.x - start.x) * 0.24, y: start.y + (end.y - start.y) * 0.24 };
    return { wait, path, x: Math.round(label.x), y: Math.round(label.y), anchor: "middle", isLabelled: true };
  }
  const label = {
    x: (start.x + 2 * control.x + end.x) / 4 + outward.x * LABEL_GAP,
    y: (start.y + 2 * control.y + end.y) / 4 + outward.y * LABEL_GAP,
  };
  const anchor = Math.abs(outward.x) < 0.3 ? "middle" : outward.x > 0 ? "start" : "end";
  return { wait, path, x: Math.round(label.x), y: Math.round(label.y), anchor, isLabelled: true };
}

function text({ x, y }: Point): string {
  return `${Math.round(x)} ${Math.round(y)}`;
}

/** Where a line from the centre of a node towards a point leaves the node. */
function edge(node: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - node.x, towards.y - node.y];
  const share = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : (NODE_WIDTH / 2 + 3) / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : (NODE_HEIGHT / 2 + 3) / Math.abs(dy),
  );
  return Number.isFinite(share) ? { x: node.x + dx * share, y: node.y + dy * share } : node;
}
