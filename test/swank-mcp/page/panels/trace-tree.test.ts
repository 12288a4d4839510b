import { expect } from "chai";
import type { Looks } from "#swank-mcp/page/model.js";
import {
  closedAtFirst,
  namesIn,
  rowsBelow,
  type TraceNode,
  traceThreads,
  visibleNodes,
} from "#swank-mcp-page/panels/trace-tree.js";

type Trace = Looks["trace"]["result"];

type Row = Trace["threads"][number]["rows"][number];

const call = (depth: number, text: string, total = 10): Row => ({
  kind: "call",
  depth,
  text,
  values: undefined,
  exit: "returned",
  count: 1,
  left: 0,
  total,
  self: total,
  methods: [],
});

const condition = (depth: number): Row => ({
  kind: "condition",
  depth,
  type: "ERROR",
  message: undefined,
  clause: undefined,
  handler: undefined,
  count: 1,
});

const threadsOf = (...rows: readonly Row[]) =>
  traceThreads({
    end: "returned",
    calls: rows.length,
    limit: 10_000,
    duration: 0,
    looking: 0,
    switching: 0,
    failure: undefined,
    values: [],
    threads: [{ name: "main", id: 1, isOwn: true, omitted: 0, rows }],
  });

const textOf = ({ row }: TraceNode) => (row.kind === "call" ? row.text : row.type);

const outline = (nodes: readonly TraceNode[]): unknown => nodes.map((node) => [textOf(node), outline(node.children)]);

describe("the tree of a trace", () => {
  it("has calls and conditions below the call that they were in", () => {
    const [thread] = threadsOf(call(0, "a"), call(1, "b"), condition(2), call(1, "c"), call(0, "d", 5));
    expect(outline(thread?.nodes ?? [])).to.deep.equal([
      [
        "a",
        [
          ["b", [["ERROR", []]]],
          ["c", []],
        ],
      ],
      ["d", []],
    ]);
    expect(thread?.total).to.equal(15);
    expect(thread?.nodes.map(rowsBelow)).to.deep.equal([3, 0]);
  });

  it("keeps rows whose callers were left out", () => {
    const [thread] = threadsOf(call(2, "deep"), call(3, "deeper"), call(0, "a"));
    expect(outline(thread?.nodes ?? [])).to.deep.equal([
      ["deep", [["deeper", []]]],
      ["a", []],
    ]);
  });

  it("shows nothing below closed calls", () => {
    const [thread] = threadsOf(call(0, "a"), call(1, "b"), call(0, "c"));
    const nodes = thread?.nodes ?? [];
    expect(visibleNodes(nodes, new Set()).map(textOf)).to.deep.equal(["a", "b", "c"]);
    expect(visibleNodes(nodes, new Set([0])).map(textOf)).to.deep.equal(["a", "c"]);
  });

  it("is closed at first where it is large", () => {
    const rows = Array.from({ length: 5 }, (_, index) => [
      call(0, `a${index}`),
      call(1, "b"),
      call(2, "c"),
      call(2, "d"),
    ]);
    const threads = threadsOf(...rows.flat());
    const shown = (most: number) => {
      const closed = closedAtFirst(threads, most);
      return threads.flatMap(({ nodes }) => visibleNodes(nodes, closed)).length;
    };
    expect([20, 10, 5, 1].map(shown)).to.deep.equal([20, 10, 5, 5]);
  });
});

describe("names to trace", () => {
  it("are separated by spaces or commas outside parentheses", () => {
    expect(namesIn(" app:a, (setf app:b) (method app:c :around (t)),app:d ")).to.deep.equal([
      "app:a",
      "(setf app:b)",
      "(method app:c :around (t))",
      "app:d",
    ]);
    expect(namesIn("  ")).to.deep.equal([]);
  });
});
