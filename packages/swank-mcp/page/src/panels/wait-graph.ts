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
}

/** A drawing of some threads. */
export interface WaitDrawing {
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

const GAP_Y = 66;

/** Room around a drawing, for arrows that go around. */
const MARGIN = 26;

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
  const apart = NODE_WIDTH + 96;
  if (heads.length === 2) return heads.map((node, index) => ({ node, x: (index - 0.5) * apart, y: 0 }));
  const radius = apart / (2 * Math.sin(Math.PI / heads.length));
  return heads.map((node, index) => {
    const angle = (2 * Math.PI * index) / heads.length - Math.PI / 2;
    return { node, x: radius * Math.cos(angle), y: radius * 0.62 * Math.sin(angle) };
  });
}

/** Moves the drawing to the origin, and adds the arrows. */
function framed(nodes: readonly PlacedNode[], waits: readonly Wait[], heads: number): WaitDrawing {
  const lefts = nodes.map(({ x }) => x - NODE_WIDTH / 2);
  const tops = nodes.map(({ y }) => y - NODE_HEIGHT / 2);
  const left = Math.min(...lefts) - MARGIN;
  const top = Math.min(...tops) - MARGIN;
  const moved = nodes.map(({ node, x, y }) => ({ node, x: Math.round(x - left), y: Math.round(y - top) }));
  const known = new Map(moved.map((place) => [place.node.id, place]));
  const ring = moved.slice(0, heads);
  const centre = {
    x: ring.reduce((sum, { x }) => sum + x, 0) / heads,
    y: ring.reduce((sum, { y }) => sum + y, 0) / heads,
  };
  const others = moved.flatMap(({ node }) =>
    node.others === undefined
      ? []
      : [{ from: node.id, to: -node.id, label: "", isCertain: true, isInCycle: false } satisfies Wait],
  );
  const arrows = [...waits, ...others].flatMap((wait) => {
    const [from, to] = [known.get(wait.from), known.get(wait.to)];
    return from === undefined || to === undefined ? [] : [arrow(wait, from, to, centre)];
  });
  return {
    width: Math.round(Math.max(...lefts) + NODE_WIDTH + MARGIN - left),
    height: Math.round(Math.max(...tops) + NODE_HEIGHT + MARGIN - top),
    nodes: moved,
    waits: arrows,
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** An arrow that, within a cycle, is bent away from the centre, so that two opposite ones can be told apart. */
function arrow(wait: Wait, from: Point, to: Point, centre: Point): PlacedWait {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const side = { x: dy / length, y: -dx / length };
  const outward = (middle.x - centre.x) * side.x + (middle.y - centre.y) * side.y;
  const bend = wait.isInCycle ? (outward < -1 ? -1 : 1) * 44 : 0;
  const control = { x: middle.x + side.x * bend, y: middle.y + side.y * bend };
  const start = edge(from, control);
  const end = edge(to, control);
  const label = wait.isInCycle
    ? { x: (start.x + 2 * control.x + end.x) / 4, y: (start.y + 2 * control.y + end.y) / 4 }
    : // Next to the thread that waits, because the arrows come together at the other one.
      { x: start.x + (end.x - start.x) * 0.26, y: start.y + (end.y - start.y) * 0.26 };
  const path = `M${text(start)} Q${text(control)} ${text(end)}`;
  return { wait, path, x: Math.round(label.x), y: Math.round(label.y) };
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
