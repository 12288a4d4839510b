import type { RecordedCall, RecordedCondition, RecordedThread, Trace } from "./data.js";

/** A row of a trace, with those of what it called. */
export interface TraceNode {
  /** Unique in its trace. */
  readonly index: number;
  readonly row: RecordedCall | RecordedCondition;
  readonly parent: TraceNode | undefined;
  readonly children: TraceNode[];
}

/** The calls of a thread as trees. */
export interface TraceThread {
  readonly thread: RecordedThread;
  readonly nodes: readonly TraceNode[];
  /** Microseconds of its calls that are inside no other call. */
  readonly total: number;
}

/** The trees of a trace's rows. */
export function traceThreads(trace: Trace): TraceThread[] {
  let index = 0;
  return trace.threads.map((thread) => {
    const nodes: TraceNode[] = [];
    const open: TraceNode[] = [];
    for (const row of thread.rows) {
      // The caller of a row may have been left out.
      open.length = Math.min(open.length, row.depth);
      const parent = open.at(-1);
      const node: TraceNode = { index, row, parent, children: [] };
      index += 1;
      (parent?.children ?? nodes).push(node);
      if (row.kind === "call") open.push(node);
    }
    return { thread, nodes, total: nodes.reduce((sum, { row }) => sum + totalOf(row), 0) };
  });
}

function totalOf(row: TraceNode["row"]): number {
  return row.kind === "call" ? row.total : 0;
}

/** The number of rows below a node. */
export function rowsBelow(node: TraceNode): number {
  return node.children.reduce((sum, child) => sum + 1 + rowsBelow(child), 0);
}

/** The nodes that are shown, each before what it called; those below nodes in `closed` are not. */
export function visibleNodes(nodes: readonly TraceNode[], closed: ReadonlySet<number>): TraceNode[] {
  return nodes.flatMap((node) => [node, ...(closed.has(node.index) ? [] : visibleNodes(node.children, closed))]);
}

/** The nodes to close at first, so that about `most` rows are shown: all that are deeper than a depth, or none. */
export function closedAtFirst(threads: readonly TraceThread[], most: number): Set<number> {
  const depths: number[] = [];
  const count = (node: TraceNode, depth: number) => {
    depths[depth] = (depths[depth] ?? 0) + 1;
    for (const child of node.children) count(child, depth + 1);
  };
  for (const { nodes } of threads) for (const node of nodes) count(node, 0);
  let shown = 0;
  let open = 0;
  while (open < depths.length && shown + (depths[open] ?? 0) <= most) {
    shown += depths[open] ?? 0;
    open += 1;
  }
  const closed = new Set<number>();
  const close = (node: TraceNode, depth: number) => {
    if (node.children.length === 0) return;
    if (depth >= Math.max(1, open) - 1 && open < depths.length) closed.add(node.index);
    for (const child of node.children) close(child, depth + 1);
  };
  for (const { nodes } of threads) for (const node of nodes) close(node, 0);
  return closed;
}

/** Names in a text: separated by commas or spaces outside parentheses. */
export function namesIn(text: string): string[] {
  const names: string[] = [];
  let name = "";
  let depth = 0;
  for (const letter of text) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (depth <= 0 && /[\s,]/.test(letter)) {
      names.push(name);
      name = "";
    } else name += letter;
  }
  return [...names, name].filter((each) => each !== "");
}
