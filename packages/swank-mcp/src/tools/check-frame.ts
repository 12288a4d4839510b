import type { DebuggedStop } from "../lisp-port.js";
import { Refusal } from "../refusal.js";

/**
 * What can be known of a frame's index without asking the image.
 *
 * @throws Refusal `INVALID_FRAME`
 */
export function checkFrame(frame: number, { condition }: DebuggedStop): void {
  const last = condition.totalFrames - 1;
  if (frame >= 0 && frame <= last) return;
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `There is no frame ${frame}; there are frames 0 to ${last}. debugger_frames lists them.`,
  });
}
