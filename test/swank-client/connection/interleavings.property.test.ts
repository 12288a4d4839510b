import { getEventListeners } from "node:events";
import { setImmediate as tick } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { read } from "sexp-parser";
import { SwankError } from "swank-client";
import type { Connection } from "swank-client/protocol";
import { activeTimers, type FakeConnection, fakeConnection } from "../../support/fake-connection.js";

/** One thing that happens to a connection; numbers choose among the requests made so far. */
type Step =
  | { readonly do: "request"; readonly timeout: number | undefined; readonly signalled: boolean }
  | { readonly do: "return" | "abort" | "invalid" | "unreadable" | "malformed" | "debug"; readonly which: number }
  | { readonly do: "cancel" | "output" | "interrupt" | "tick" }
  | { readonly do: "close" | "end" | "reset" | "garbage" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      timeout: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      signalled: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "return" as const,
        "abort" as const,
        "invalid" as const,
        "unreadable" as const,
        "malformed" as const,
        "debug" as const,
      ),
      which: fc.nat(8),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("cancel" as const, "output" as const, "interrupt" as const, "tick" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("close" as const, "end" as const, "reset" as const, "garbage" as const),
    }),
  },
);

/** The messages of a server about one request. */
const MESSAGES = {
  return: (id: number) => `(:return (:ok ${id}) ${id})`,
  abort: (id: number) => `(:return (:abort "x") ${id})`,
  invalid: (id: number) => `(:invalid-rpc ${id} "x")`,
  unreadable: (id: number) => `(:reader-error "(:emacs-rex (x:y) nil t ${id})" "x")`,
  malformed: (id: number) => `(:return (:odd) ${id})`,
  debug: (id: number) => `(:debug 5 1 ("m" "T" nil) (("ABORT" "x")) ((0 "(F)")) (${id}))`,
} as const;

/** Plays a scenario, and counts how often each request is settled. */
class Scenario {
  readonly settled = new Map<number, number>();
  readonly waits: Promise<void>[] = [];
  readonly controller = new AbortController();
  readonly #fake: FakeConnection;

  constructor(fake: FakeConnection) {
    this.#fake = fake;
  }

  async play(next: Step): Promise<void> {
    const { connection, peer } = this.#fake;
    switch (next.do) {
      case "request":
        return this.#request(connection, next.timeout, next.signalled);
      case "cancel":
        return this.controller.abort();
      case "output":
        return peer.send('(:write-string "x" nil 5)', "(:ping 5 6)", "(:brand-new)");
      case "interrupt":
        return void connection.send({ type: "emacs-interrupt", thread: "t" });
      case "tick":
        return tick();
      case "close":
        return void connection.close();
      case "end":
        return peer.end();
      case "reset":
        return peer.reset();
      case "garbage":
        return peer.sendBytes(new TextEncoder().encode("not a frame"));
      default:
        return peer.send(MESSAGES[next.do](next.which));
    }
  }

  #request(connection: Connection, timeout: number | undefined, signalled: boolean): void {
    const id = connection.nextId();
    const signal = signalled ? this.controller.signal : undefined;
    this.settled.set(id, 0);
    const count = () => void this.settled.set(id, (this.settled.get(id) ?? 0) + 1);
    const wait = connection
      .request(read("(cl:loop)"), { label: "x", id, timeout, signal })
      .then(count, (error: unknown) => {
        if (!(error instanceof SwankError)) throw error;
        count();
      });
    this.waits.push(wait);
  }
}

describe("Connection under any interleaving of requests, replies, stops, interrupts, cancellations and endings", () => {
  for (const joint of ["memory", "TCP"] as const)
    it(`settles every request once, and leaves no timer or listener behind (${joint})`, async () => {
      // Mocha starts its own timer after the first synchronous part of a test.
      await tick();
      const timers = activeTimers();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const fake = await fakeConnection(joint, { linger: 50 });
          const scenario = new Scenario(fake);
          const { connection } = fake;
          let closings = 0;
          connection.on("closed", () => {
            closings += 1;
          });
          for (const next of steps) await scenario.play(next);
          await fake.release();
          await Promise.all(scenario.waits);
          expect([...scenario.settled.values()].every((count) => count === 1)).to.equal(true);
          expect(connection.pendingCount).to.equal(0);
          expect(closings).to.equal(1);
          expect(getEventListeners(scenario.controller.signal, "abort").length).to.equal(0);
        }),
        { numRuns: joint === "TCP" ? 50 : 300 },
      );
      expect(activeTimers()).to.equal(timers);
    });
});
