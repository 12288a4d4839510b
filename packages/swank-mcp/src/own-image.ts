import type { LaunchedImage, LoadedFile } from "swank-client/launch";
import type { Config } from "./config.js";
import { imageDirectory } from "./image-directory.js";
import { LispSession } from "./lisp-session.js";
import type { Log } from "./log.js";
import { settledWithin } from "./settled-within.js";
import type { SharedAt, Sharing } from "./sharing.js";

/** How long an image may take to be gone after its connection is, in milliseconds. */
const EXIT_TIME = 2000;
/** How much is repeated of what a file that failed to load printed. */
const LAST_LINES = 12;

/** What the images of one server have in common. */
export interface OwnImageHost {
  readonly log: Log;
  /** Absent when nobody else is to use them. */
  readonly sharing: Sharing | undefined;
}

/**
 * Launches an image of our own, connects to it, and loads the user's files into it.
 *
 * @throws SwankError - when Lisp or Swank cannot be found, or the image does not come up; nothing is left behind then.
 */
export async function openOwnImage(
  config: Config,
  { log, sharing }: OwnImageHost,
  signal: AbortSignal,
): Promise<LispSession> {
  const [{ commands, connect }, { findShareSecret, launchImage, loadInitFiles, shareImage }] = await Promise.all([
    import("swank-client"),
    import("swank-client/launch"),
  ]);
  const { lisp, swank, cacheDir, dynamicSpaceSize, noCore, noUserInit, load, foreignErrors } = config;
  const image = await launchImage({
    lisp,
    swank,
    cacheDir,
    dynamicSpaceSize,
    useCore: !noCore,
    signal,
    onLog: (line) => log(`image: ${line}`),
  });
  for (const note of image.notes) log(`launch: ${note}`);
  try {
    const client = await connect({ transport: image.transport, foreignErrors, signal });
    const loaded = await client.run(loadInitFiles, [{ noUserInit, load }], { signal });
    const shared = await sharing?.share(client, { command: shareImage, findSecret: findShareSecret });
    return new LispSession({
      client,
      origin: { kind: "own", shared },
      identity: `launched ${image.pid}`,
      remarks: [...loaded.flatMap(failureNotice), ...problemOf(shared)],
      notes: image.notes,
      directory: (asked) => imageDirectory(client, commands.defaultDirectory, asked),
      explainLoss: () => explainExit(image),
      close: () => image.stop(),
    });
  } catch (error) {
    await image.stop();
    throw error;
  }
}

function problemOf(shared: SharedAt | undefined): string[] {
  return shared !== undefined && "problem" in shared ? [shared.problem] : [];
}

function failureNotice({ path, status, error, output }: LoadedFile): string[] {
  if (status === "loaded") return [];
  if (status === "missing") return [`${path} was not loaded: there is no such file.`];
  const said = lastLines(output);
  return [`${path} was not loaded to its end: ${error}${said === "" ? "" : `\n${said}`}`];
}

async function explainExit(image: LaunchedImage): Promise<string> {
  const exit = (await settledWithin(EXIT_TIME, image.exited))?.value;
  if (exit === undefined) return `The connection to the image (pid ${image.pid}) was lost.`;
  const how = exit.signal === undefined ? `ended with exit code ${exit.code}` : `was killed by ${exit.signal}`;
  const { lispProblem } = await import("swank-client/launch");
  const said = exit.code === 0 ? "" : lispProblem(exit.outputTail);
  return `The image (pid ${image.pid}) ${how}.${said === "" ? "" : ` It last said:\n${said}`}`;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-LAST_LINES).join("\n");
}
