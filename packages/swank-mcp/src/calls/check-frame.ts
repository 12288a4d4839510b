import type { DebuggedStop } from "../image/lisp-port.js";
import { Refusal } from "../refusals/refusal.js";

/**
 * Checks a frame's index without asking the image.
 *
 * @throws Refusal `INVALID_FRAME`
 */
export function checkFrame(frame: number, { condition }: Pick<DebuggedStop, "condition">): void {
  const last = condition.totalFrames - 1;
  if (frame >= 0 && frame <= last) return;
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `There is no frame ${frame}; the stack has frames 0 to ${last}. debugger_frames lists them.`,
  });
}
