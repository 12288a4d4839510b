import type { ConnectionInfo } from "../commands/connection-info.js";
import { SwankError } from "../errors.js";

/** The first release that this package supports; the first that has `:ed-rpc`. */
const OLDEST = { major: 2, minor: 24 } as const;

/**
 * Makes sure that an image can be worked with.
 *
 * @throws SwankError `NOT_SWANK` (Slynk in disguise), `SWANK_TOO_OLD`, `NO_THREADS`
 */
export function checkImage(info: ConnectionInfo, description: string): void {
  // SLY's slynk-retro answers to Swank's names, but its debugger messages and contribs differ.
  if (info.features.includes("SLYNK") && !info.features.includes("SWANK")) {
    throw new SwankError("NOT_SWANK", `${description} is SLY's Slynk, not Swank.`);
  }
  if (isTooOld(info.version)) {
    throw new SwankError(
      "SWANK_TOO_OLD",
      `${description} runs Swank ${info.version}; the oldest supported one is 2.24.`,
    );
  }
  if (info.style !== "spawn") {
    throw new SwankError("NO_THREADS", `${description} serves without threads (style ${info.style ?? "nil"}).`);
  }
}

/** Old releases are named by their date, `2014-10-10`; a missing or odd version gets the benefit of the doubt. */
function isTooOld(version: string | undefined): boolean {
  const parts = /^(\d+)[.-](\d+)/.exec(version ?? "");
  if (parts === null) return false;
  const [, major, minor] = parts.map(Number);
  if (major === undefined || minor === undefined || major >= 1000) return true;
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
}
