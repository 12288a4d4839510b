/** A server that clients connect to: Swank, or SLY's Slynk. */
export type ServerName = "swank" | "slynk";

/** `TEST_SERVER=slynk` runs the tests with Slynk, from the sources of SLY that `SLY_SOURCES` names. */
export const USUAL_SERVER: ServerName = process.env["TEST_SERVER"] === "slynk" ? "slynk" : "swank";

/** The folder with the sources of SLY. */
export function slySources(): string {
  const sources = process.env["SLY_SOURCES"];
  if (sources === undefined) throw new Error("SLY_SOURCES must name a folder with the sources of SLY.");
  return sources;
}

/** What differs in forms for Emacs or for the Lisp if SLY and Slynk take the place of SLIME and Swank. */
const NAMES: readonly (readonly [slime: RegExp, sly: string])[] = [
  [/\bslime-display-threads\b/g, "sly--display-threads"],
  // what C-c C-c says
  [/\bCompilation finished\b/g, "Compiled and loaded"],
  // the file that the server loads
  [/\.swank\.lisp\b/g, ".slynk.lisp"],
  [/\*slime-threads\*/g, "*sly-threads for sbcl*"],
  [/\bslime(?=-|\)|$)/g, "sly"],
  [/\bsldb-/g, "sly-db-"],
  [/\bswank\/(backend|sbcl|rpc)(?=:)/g, "slynk-$1"],
  [/\bswank(?=:)/g, "slynk"],
  [/(\bslynk[-a-z]*::?)swank-/g, "$1slynk-"],
];

/** A form as it is, or for SLY and Slynk if `TEST_SERVER` says so. */
export function forUsualServer(text: string): string {
  if (USUAL_SERVER === "swank") return text;
  return NAMES.reduce((all, [slime, sly]) => all.replaceAll(slime, sly), text);
}

/** The file with the secret of the user who runs it, in the home folder. */
export const SECRET_FILE = USUAL_SERVER === "swank" ? ".slime-secret" : ".sly-secret";

/** The name of the threads that requests run in. */
export const WORKER_THREAD = USUAL_SERVER === "swank" ? "worker" : "slynk-worker";

/** The name of the thread of the user's first REPL. */
export const REPL_THREAD = USUAL_SERVER === "swank" ? "repl-thread" : "sly-channel-1-mrepl-remote-1";

/**
 * True if the usual server is Slynk, with which a test is not defined.
 *
 * @param _reason - Why Slynk or SLY cannot pass it.
 */
export function isBeyondSlynk(_reason: string): boolean {
  return USUAL_SERVER === "slynk";
}
