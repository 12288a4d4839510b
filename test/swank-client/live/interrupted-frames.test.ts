import { expect } from "chai";
import type { Stop } from "swank-client";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";

const WAIT = '(defun wait (n) (princ n) (sb-thread:wait-on-semaphore (sb-thread:make-semaphore :name "jobs")) n)';
/** Calls inside SBCL, all of them made by SBCL. */
const INTERNAL = /^\((\((FLET|LABELS|LAMBDA) .* :IN )?SB-THREAD::/;
const BARE = / \.\.\.\)$/;

describe("Stop.frames: frames of SBCL's own functions", () => {
  const image = liveClient();
  beforeEach(async () => {
    await image.evaluate(WAIT);
  });

  const calls = ({ condition }: Stop) => condition.frames.map(({ call }) => call);
  const localsOf = async (stop: Stop, call: RegExp) => {
    const frame = stop.condition.frames.find((candidate) => call.test(candidate.call));
    const { locals, unread } = await stop.frameLocals(frame?.index ?? -1);
    return { locals: locals.map(({ name, value }) => `${name} ${value}`), unread };
  };

  for (const [what, code, interrupt] of [
    ["that an interrupt met", "(wait 17)", true],
    ["below a timer that signals", "(sb-ext:with-timeout 0.3 (wait 17))", false],
  ] as const) {
    it(`${what} are shown without their variables, their callers with it`, async () => {
      const evaluation = image.client.evaluate(code);
      if (interrupt) {
        await evaluation.next({ timeout: 300 }).catch(() => undefined);
        await evaluation.interrupt();
      }
      const { stop } = stopped(await evaluation.next());
      const internal = calls(stop).filter((call) => INTERNAL.test(call));
      expect(internal).to.not.deep.equal([]);
      for (const call of internal) expect(call).to.match(BARE);
      expect(await localsOf(stop, INTERNAL)).to.deep.equal({ locals: [], unread: true });
      expect(await localsOf(stop, /^\(WAIT 17\)/)).to.deep.equal({ locals: ["N 17"], unread: false });
      // what the program itself has called
      expect(calls(stop).join("\n")).to.match(/^\(SB-THREAD:WAIT-ON-SEMAPHORE #.*jobs/m);
      await evaluation.abort();
    });
  }

  it("at an error are shown with their arguments", async () => {
    const { stop } = stopped(await image.evaluate("(defun divide (n) (list (/ n 0))) (divide 17)"));
    expect(calls(stop)[0]).to.match(/^\(SB-KERNEL::INTEGER-\/-INTEGER 17 0\)$/);
    expect(await localsOf(stop, /INTEGER-/)).to.deep.include({ unread: false });
    expect(await localsOf(stop, /^\(DIVIDE 17\)$/)).to.deep.equal({ locals: ["N 17"], unread: false });
    await stop.abort();
  });
});
