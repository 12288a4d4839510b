import { expect } from "chai";
import {
  NODE_HEIGHT,
  NODE_WIDTH,
  type WaitDrawing,
  waitDrawings,
  waitGraph,
} from "#swank-mcp-page/panels/wait-graph.js";

const waiting = (id: number, holder: number, what: string) => ({
  id,
  name: `thread ${id}`,
  state: "mutex" as const,
  what,
  holder,
  recorded: undefined,
  place: undefined,
});

const idle = (id: number) => ({
  id,
  name: `thread ${id}`,
  state: "running" as const,
  what: undefined,
  holder: undefined,
  recorded: undefined,
  place: undefined,
});

function overlaps({ nodes }: WaitDrawing): string[] {
  return nodes.flatMap((one, index) =>
    nodes
      .slice(index + 1)
      .filter(({ x, y }) => Math.abs(x - one.x) < NODE_WIDTH && Math.abs(y - one.y) < NODE_HEIGHT)
      .map((other) => `${one.node.id} ${other.node.id}`),
  );
}

function outside({ nodes, left, top, width, height }: WaitDrawing): number {
  const isInside = (place: number, start: number, size: number, room: number) =>
    place - room / 2 >= start && place + room / 2 <= start + size;
  return nodes.filter(({ x, y }) => !isInside(x, left, width, NODE_WIDTH) || !isInside(y, top, height, NODE_HEIGHT))
    .length;
}

describe("the drawing of who waits for whom", () => {
  it("has the threads that wait or are waited for, and marks those in a cycle", () => {
    const graph = waitGraph([waiting(7, 9, "b"), waiting(9, 7, "a"), waiting(11, 7, "a"), idle(1)]);
    expect(graph.nodes.map(({ id, isInCycle }) => [id, isInCycle])).to.deep.equal([
      [7, true],
      [9, true],
      [11, false],
    ]);
    expect(graph.waits.map(({ from, to, label, isInCycle }) => [from, to, label, isInCycle])).to.deep.equal([
      [7, 9, "b", true],
      [9, 7, "a", true],
      [11, 7, "a", false],
    ]);
  });

  it("says what is only named by an object, and takes no thread that has ended or the waiting one itself", () => {
    const recorded = [
      { slot: "OWNER", thread: 3 },
      { slot: "WAITER", thread: 2 },
      { slot: "LAST", thread: 0 },
    ];
    const graph = waitGraph([{ ...idle(2), state: "queue", what: "CHANGED", recorded }, idle(3)]);
    expect(graph.waits).to.deep.equal([{ from: 2, to: 3, label: "CHANGED", isCertain: false, isInCycle: false }]);
  });

  it("names the end of a thread, and threads that are not listed", () => {
    const graph = waitGraph([{ ...idle(2), state: "join", holder: 8 }]);
    expect(graph.waits.map(({ label }) => label)).to.deep.equal(["its end"]);
    expect(graph.nodes.map(({ name }) => name)).to.deep.equal(["thread 2", "unknown thread"]);
  });

  it("draws cycles first, and what has nothing to do with each other apart", () => {
    const drawings = waitDrawings(
      waitGraph([waiting(5, 4, "x"), idle(4), waiting(7, 9, "b"), waiting(9, 7, "a"), waiting(10, 9, "a")]),
    );
    expect(drawings.map(({ nodes }) => nodes.map(({ node }) => node.id))).to.deep.equal([
      [7, 9, 10],
      [4, 5],
    ]);
    expect(drawings.map(({ waits }) => waits.length)).to.deep.equal([3, 1]);
  });

  it("bends the two arrows between two threads apart", () => {
    const [drawing] = waitDrawings(waitGraph([waiting(7, 9, "b"), waiting(9, 7, "a")]));
    const [one, other] = drawing?.waits ?? [];
    expect(Math.abs((one?.y ?? 0) - (other?.y ?? 0))).to.be.greaterThan(20);
  });

  for (const count of [2, 3, 5, 8]) {
    it(`lets no threads overlap in a cycle of ${count} with others that wait`, () => {
      const cycle = Array.from({ length: count }, (_, index) =>
        waiting(10 + index, 10 + ((index + 1) % count), "lock"),
      );
      const others = Array.from({ length: 12 }, (_, index) =>
        waiting(100 + index, index < 6 ? 10 : 10 + (index % count), "lock"),
      );
      const [drawing, ...more] = waitDrawings(waitGraph([...cycle, ...others, waiting(200, 100, "deep")]));
      expect(more).to.deep.equal([]);
      expect(drawing === undefined ? ["none"] : overlaps(drawing)).to.deep.equal([]);
      expect(drawing === undefined ? 1 : outside(drawing)).to.equal(0);
    });
  }

  it("labels arrows to the same thread once if they have the same label", () => {
    const labels = (...waits: readonly ReturnType<typeof waiting>[]) =>
      waitDrawings(waitGraph([idle(1), ...waits])).flatMap(({ waits: drawn }) =>
        drawn.filter(({ isLabelled }) => isLabelled).map(({ wait }) => wait.label),
      );
    expect(labels(waiting(2, 1, "a"), waiting(3, 1, "a"))).to.deep.equal(["a"]);
    expect(labels(waiting(2, 1, "a"), waiting(3, 1, "b"))).to.deep.equal(["a", "b"]);
  });

  it("draws many threads that wait for the same as one", () => {
    const [drawing] = waitDrawings(
      waitGraph([idle(1), ...Array.from({ length: 50 }, (_, index) => waiting(index + 2, 1, "pool"))]),
    );
    expect(drawing?.nodes.length).to.equal(5);
    expect(drawing?.nodes.at(-1)?.node.others).to.equal(47);
    expect(drawing?.waits.length).to.equal(4);
  });
});
