import type { ConnectionInfo } from "../commands/connection-info.js";
import { SwankError } from "../errors.js";
import { listenForm, portBeside } from "../listen-form.js";

/** The first release that this package supports; the first that has `:ed-rpc`. */
const OLDEST = { major: 2, minor: 24 } as const;

/** What was connected to. */
export interface CheckedServer {
  /** E.g. `127.0.0.1:4005`. */
  readonly description: string;
  readonly port: number | undefined;
}

/**
 * Makes sure that an image can be worked with.
 *
 * @throws SwankError `SLYNK`, `UNSUPPORTED_LISP`, `SWANK_TOO_OLD`, `NO_THREADS`
 */
export function checkImage(info: ConnectionInfo, server: CheckedServer): void {
  const { description } = server;
  if (isSlynk(info)) throw slynk(info, server);
  const { type, version } = info.implementation;
  if (type !== "SBCL") {
    throw new SwankError("UNSUPPORTED_LISP", `${description} is ${type} ${version}; only SBCL is supported.`);
  }
  if (isTooOld(info.version)) {
    throw new SwankError(
      "SWANK_TOO_OLD",
      `${description} runs Swank ${info.version}; the oldest supported one is 2.24.`,
    );
  }
  if (info.style !== "spawn") throw noThreads(info, server);
}

/** Slynk answers to Swank's names too (slynk-rpc.lisp, `*translating-swank-to-slynk*`), under its own version, 1.x; both can be in one image. */
function isSlynk({ features, version }: ConnectionInfo): boolean {
  return features.includes("SLYNK") && (!features.includes("SWANK") || version?.startsWith("1.") === true);
}

function slynk({ modules }: ConnectionInfo, { description, port }: CheckedServer): SwankError {
  const free = portBeside(port);
  // SLY's contrib sly-retro nicknames Slynk's packages SWANK, so that Swank's own cannot be made.
  const isInDisguise = modules.some((module) => module.toUpperCase() === "SLYNK/RETRO");
  const first = isInDisguise ? "Take sly-retro out of SLY's sly-contribs and start the Lisp anew. " : "";
  const remedy = `${first}Load Swank into the image beside Slynk, (ql:quickload :swank), start it with ${listenForm(free)}, and connect to port ${free}.`;
  return new SwankError("SLYNK", `${description} is SLY's Slynk, not Swank.`, { remedy, details: { port: free } });
}

function noThreads({ style, features }: ConnectionInfo, { description, port }: CheckedServer): SwankError {
  const message = `${description} serves without threads (style ${style ?? "nil"}).`;
  if (!features.includes("SB-THREAD")) {
    const remedy = "This SBCL was built without threads: use one that has :sb-thread in *features*.";
    return new SwankError("NO_THREADS", message, { remedy });
  }
  const free = portBeside(port);
  const remedy = `Start another server in the image, with threads, ${listenForm(free, " :style :spawn")}, and connect to port ${free}.`;
  return new SwankError("NO_THREADS", message, { remedy, details: { port: free } });
}

/** Old releases are named by their date, `2014-10-10`; a missing or odd version gets the benefit of the doubt. */
function isTooOld(version: string | undefined): boolean {
  const parts = /^(\d+)[.-](\d+)/.exec(version ?? "");
  if (parts === null) return false;
  const [, major, minor] = parts.map(Number);
  if (major === undefined || minor === undefined || major >= 1000) return true;
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
}
