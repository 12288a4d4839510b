import { resolve } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { connectLaunched, type SwankClient } from "swank-client";
import {
  type CoreBuildEnd,
  defaultInitFiles,
  type LaunchedImage,
  type LoadedFile,
  launchImage,
  loadInitFile,
} from "swank-client/launch";
import { awaitedLockOf, checkOf, imageDirectory } from "swank-client/protocol";
import type { Config } from "../base/config.js";
import type { Log } from "../base/log.js";
import { explainEnding, explainUnlaunched } from "../base/refusals.js";
import { type AgentName, LispSession, type OnDelay, type OnFile } from "./image.js";
import type { SharedAt, Sharing } from "./open-image.js";

/** How an image was started, for the log. */
const HOW = { core: "from a core", "built-core": "from a new core", loaded: "without a core" } as const;

/** Milliseconds to wait for the end of an image whose file did not return: SBCL waits 2 s for its threads, exit hooks take longer. */
const EXIT_TIME = 4000;

/** Lines of output that a notice repeats from a file that failed to load. */
const LAST_LINES = 12;

const NO_CORE = "There is no Lisp core for this SBCL and Swank yet.";

const LATER = "Launches that find the core start at once.";

const LOADING = `${NO_CORE} Swank is loaded, which takes a few seconds, and a core is then built in the background. ${LATER}`;

const BUILDING = `${NO_CORE} It is built first, which takes about 10 seconds. ${LATER}`;

/** What all images launched by one server share. */
export interface OwnImageHost {
  readonly log: Log;
  /** Absent without `--share`. */
  readonly sharing: Sharing | undefined;
  readonly onDelay: OnDelay;
  /** Called before a file of the user is loaded. */
  readonly onFile: OnFile;
  readonly agentName: AgentName;
}

/**
 * Launches an image, connects to it, and loads the user's files into it.
 *
 * @throws SwankError - when Lisp or Swank cannot be found, or the image does not start; nothing is left running then.
 */
export async function openOwnImage(
  config: Config,
  { log, sharing, onDelay, onFile, agentName }: OwnImageHost,
  signal: AbortSignal,
): Promise<LispSession> {
  const { lisp, swank, cacheDir, dynamicSpaceSize, noCore, foreignErrors } = config;
  const image = await launchImage({
    lisp,
    swank,
    cacheDir,
    dynamicSpaceSize,
    useCore: !noCore,
    signal,
    onLog: (line) => log(`image: ${line}`),
    // The entries of a script in the console may end sooner than the build, and would end it.
    buildInBackground: config.command === "serve",
    onBuild: (isBackground) => {
      const text = isBackground ? LOADING : BUILDING;
      log(`launch: ${text}`);
      process.stderr.write(`swank-mcp: ${text}\n`);
      onDelay(text);
    },
  }).catch((error: unknown) => {
    throw explainUnlaunched(error, config);
  });
  // Only an Emacs that joins can see what the agent does.
  const name = sharing === undefined ? undefined : agentName.text;
  const client = await connectLaunched(image, { signal, foreignErrors, agentName: name }).catch((error: unknown) => {
    throw explainUnlaunched(error, config);
  });
  const { notes } = client;
  log(`launched SBCL ${client.info.implementation.version}, pid ${image.pid}, ${HOW[image.how]}`);
  for (const note of notes) log(`launch: ${note}`);
  void image.coreBuild?.then((end) => log(`launch: the core for later launches: ${buildText(end)}`));
  // A core contains the runtime, so that this changes nothing that the files can see. The first evaluation need not ask.
  if (image.how !== "loaded") client.prepare().catch(() => undefined);
  try {
    const loaded = await loadFiles(config, { client, image, onFile }, signal);
    // What the files wrote to the process's own streams is then read, and is not taken for the output of an evaluation.
    await setImmediate();
    const shared = await sharing?.share(client);
    return new LispSession({
      client,
      check: checkOf(client, { address: "the image", abandon: () => client.close() }),
      origin: { kind: "own", shared },
      processOutput: {
        get length() {
          return image.outputLength;
        },
        get tail() {
          return image.outputTail;
        },
      },
      identity: `launched ${image.pid}`,
      remarks: [...loaded.flatMap(failureNotice), ...problemOf(shared)],
      isPartlyLoaded: loaded.some(({ status }) => status !== "loaded"),
      notes,
      directory: (asked) => imageDirectory(client, asked),
      awaitedLock: () => awaitedLockOf(client),
      explainLoss: async () => (await client.closed).message,
      close: () => client.close(),
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Loads the init files that `sbcl` would load, and the files of `--load`. */
async function loadFiles(
  { noUserInit, load }: Config,
  {
    client,
    image,
    onFile,
  }: Pick<OwnImageHost, "onFile"> & { readonly client: SwankClient; readonly image: LaunchedImage },
  signal: AbortSignal,
): Promise<LoadedFile[]> {
  const lisp = client.lisp.with({ signal });
  const initFiles = noUserInit ? [] : await lisp.run(defaultInitFiles);
  const files = [
    ...initFiles.map((path) => ({ path, isNamed: false })),
    ...load.map((path) => ({ path: resolve(path), isNamed: true })),
  ];
  const loaded: LoadedFile[] = [];
  for (const file of files) {
    onFile(file);
    try {
      loaded.push(await lisp.run(loadInitFile, file.path));
    } catch (error) {
      if (signal.aborted) throw error;
      // An image that calls EXIT aborts its requests before it ends.
      const exit = await Promise.race([image.exited, setTimeout(EXIT_TIME, undefined, { ref: false })]);
      if (exit !== undefined) throw explainEnding(file, exit);
      const { message } = error instanceof Error ? error : new Error(String(error));
      loaded.push({ path: file.path, status: "failed", output: "", error: message });
    }
  }
  return loaded;
}

function buildText(end: CoreBuildEnd): string {
  return end.status === "failed" ? `failed: ${end.reason}` : end.status;
}

function problemOf(shared: SharedAt | undefined): string[] {
  return shared !== undefined && "problem" in shared ? [shared.problem] : [];
}

function failureNotice({ path, status, error, output }: LoadedFile): string[] {
  if (status === "loaded") return [];
  if (status === "missing") return [`${path} was not loaded: there is no such file. Check --load.`];
  const said = lastLines(output);
  return [`${path} was only partly loaded: ${error}${said === "" ? "" : `\n${said}`}`];
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-LAST_LINES).join("\n");
}
