import { SwankError } from "../base/errors.js";
import { listenForm, portBeside } from "../base/listen-form.js";
import type { ConnectionInfo } from "../calls/connection-info.js";

/** The oldest release that this package supports: the first with `:ed-rpc`. */
const OLDEST = { major: 2, minor: 24 } as const;

/** The server of a connection. */
export interface CheckedServer {
  /** E.g. `127.0.0.1:4005`. */
  readonly description: string;
  readonly port: number | undefined;
}

/**
 * Checks that this package supports an image.
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

/** Slynk also accepts Swank's names (slynk-rpc.lisp, `*translating-swank-to-slynk*`) but has its own version, 1.x. One image can run both. */
function isSlynk({ features, version }: ConnectionInfo): boolean {
  return features.includes("SLYNK") && (!features.includes("SWANK") || version?.startsWith("1.") === true);
}

function slynk({ modules }: ConnectionInfo, { description, port }: CheckedServer): SwankError {
  const free = portBeside(port);
  // SLY's contrib sly-retro gives Slynk's packages the nickname SWANK, so that Swank cannot create its own.
  const isRetro = modules.some((module) => module.toUpperCase() === "SLYNK/RETRO");
  const first = isRetro ? "Take sly-retro out of SLY's sly-contribs and restart the Lisp. " : "";
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

/** Old releases have a date as their version, `2014-10-10`. A missing or malformed version is accepted. */
function isTooOld(version: string | undefined): boolean {
  const parts = /^(\d+)[.-](\d+)/.exec(version ?? "");
  if (parts === null) return false;
  const [, major, minor] = parts.map(Number);
  if (major === undefined || minor === undefined || major >= 1000) return true;
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
}
