import type { SwankClient } from "swank-client";
import { aborted, stopped } from "./outcomes.js";

/** Compiles, and looks at its own stack, for ever. */
const COMPILING = `
(loop (funcall (compile nil \`(lambda (x) (if (> x ,(random 100)) (list x) (vector x)))) 1)
      (sb-debug:list-backtrace :count 20))`;

/**
 * Breaks off an evaluation that compiles at a random time.
 *
 * @param stops - Whether it is interrupted first, as when its time is up, and aborted where it stopped.
 */
export async function interruptCompiling(client: SwankClient, stops: boolean): Promise<void> {
  const evaluation = client.evaluate(COMPILING);
  await evaluation.next({ timeout: Math.random() * 8 }).catch(() => undefined);
  if (stops) {
    await evaluation.interrupt();
    stopped(await evaluation.next());
  }
  aborted(await evaluation.abort());
}
