import { resolve } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { connect, connectLaunched, type SwankClient, SwankError } from "swank-client";
import {
  defaultInitFiles,
  findShareSecret,
  type LaunchedImage,
  type LoadedFile,
  launchImage,
  loadInitFile,
  shareImage,
} from "swank-client/launch";
import {
  ANSWER_TIME,
  awaitedLockOf,
  checkOf,
  imageDirectory,
  type NetworkPeer,
  tcpOpener,
} from "swank-client/protocol";
import { image as imageCalls } from "swank-client/swank";
import { addressText, type Config, DEFAULT_HOST, type ImageAddress, tunnelTo } from "../base/config.js";
import type { Log } from "../base/log.js";
import { explainEnding, explainUnattached, explainUnlaunched, Refusal } from "../base/refusals.js";
import {
  AgentName,
  type AttachedOrigin,
  type ImageHost,
  type LispSession,
  lispSession,
  type OnDelay,
  type OnFile,
  type OpenSession,
  type SessionParts,
  type SharedAt,
} from "./image.js";

/** The way to open a session in this configuration. */
export function openSession(config: Config, log: Log, agentName = new AgentName()): OpenSession {
  const { attach, share } = config;
  const sharing = share === undefined ? undefined : new Sharing(share, config, aloud(log));
  return logged(log, async (signal, onDelay, onFile) =>
    attach === undefined
      ? openOwnImage(config, { log, sharing, onDelay, onFile, agentName }, signal)
      : openAttachedImage(attach, config, agentName.text, signal),
  );
}

const ANY_PORT = 0;

/**
 * The way to open the session that keeps a launched image for several agents. Each agent connects to it by `openBeside`, so that no agent has the
 * connection with which the image ends.
 */
export function openForOthers(config: Config, log: Log): OpenSession {
  const isForUser = config.share !== undefined;
  const secret = { ...config, noSecret: isForUser && config.noSecret };
  const sharing = new Sharing(config.share ?? ANY_PORT, secret, isForUser ? aloud(log) : log);
  return logged(log, (signal, onDelay, onFile) => openOwnImage(config, { log, sharing, onDelay, onFile }, signal));
}

/** The way to open a session with the image of `--attach` for a person, whom the image's record of agents does not name. */
export function openUnnamed(address: ImageAddress, config: Config, log: Log): OpenSession {
  return logged(log, (signal) => openAttachedImage(address, config, undefined, signal));
}

/**
 * The way to open one agent's session with the image that `keeper` launches when an agent first needs it, and again when it has ended.
 *
 * @param agentName - Absent for a person, whom the image's record of agents does not name.
 */
export function openBeside(keeper: ImageHost, config: Config, log: Log, agentName?: AgentName): OpenSession {
  return logged(log, async (signal, onDelay) => {
    const kept = await keeper.session(signal, onDelay);
    const { shared } = kept.origin.kind === "own" ? kept.origin : {};
    if (shared === undefined || "problem" in shared)
      throw new Refusal("LISP_UNREACHABLE", shared?.problem ?? "The image is not shared.");
    const [host = DEFAULT_HOST, port] = shared.address.split(":");
    const { secretFile } = shared;
    const how: Config = { ...config, secretFile, noSecret: secretFile === undefined };
    const { processOutput, remarks, isPartlyLoaded, notes } = kept;
    return openAttachedImage({ host, port: Number(port) }, how, agentName?.text, signal, {
      ...(processOutput === undefined ? {} : { processOutput }),
      remarks,
      isPartlyLoaded,
      notes,
    });
  });
}

function aloud(log: Log): Log {
  return (line) => {
    log(line);
    process.stderr.write(`swank-mcp: ${line}\n`);
  };
}

function logged(log: Log, open: OpenSession): OpenSession {
  return async (signal, onDelay, onFile) => {
    const session = await open(signal, onDelay, onFile);
    const { info, closed } = session.client;
    log(`connected to the image with pid ${info.pid}`);
    void closed.then(async (reason) => {
      const isLost = reason.code !== "CONNECTION_CLOSED";
      const why = isLost ? `was lost: ${await session.explainLoss()}` : `ended: ${reason.message}`;
      log(`the connection to the image with pid ${info.pid} ${why}`);
    });
    for (const remark of session.remarks) log(remark);
    session.faults.logTo(log);
    return session;
  };
}

/** The origin of an attached image, with a warning if the connection crosses a network: Swank encrypts nothing. */
export function attachedOrigin(address: ImageAddress, peer: NetworkPeer | undefined): AttachedOrigin {
  const isOpen = peer?.isLoopback === false;
  return { kind: "attached", address: addressText(address), ...(isOpen ? { warning: unencrypted(address) } : {}) };
}

function unencrypted(address: ImageAddress): string {
  return `The connection to ${addressText(address)} is not encrypted, and anyone who can reach that port can run any code in the Lisp. Safer: let its Swank listen only on its own machine, ${tunnelTo(address)}.`;
}

const DEAD =
  "The connection was dead: nothing arrived on it, while a second connection to the same address was answered.";

const CALL_AGAIN = "Call again: the next call uses a new connection to the same image.";

/** What this server knows of an image that it launched itself, for several agents. */
type KnownOfImage = Pick<SessionParts, "processOutput" | "remarks" | "isPartlyLoaded" | "notes">;

/**
 * Connects to an image that this server did not start, or that several of its agents share.
 *
 * @throws Refusal `LISP_UNREACHABLE` - with the form to evaluate in the image; SwankError - when the image or its Swank cannot be used.
 * Both have a remedy.
 */
async function openAttachedImage(
  address: ImageAddress,
  config: Config,
  agentName: string | undefined,
  signal: AbortSignal,
  known?: KnownOfImage,
): Promise<LispSession> {
  const { cacheDir, foreignErrors } = config;
  const secret = secretOption(config);
  try {
    const client = await connect({
      ...address,
      secret,
      foreignErrors,
      cacheDir,
      mayEndImage: false,
      threadOutput: true,
      sessionForms: true,
      agentName,
      signal,
    });
    const attached = attachedOrigin(address, client.connection.peer);
    const origin: AttachedOrigin = known === undefined ? attached : { ...attached, isLaunchedHere: true };
    const { connection } = client;
    const check = checkOf(client, {
      address: addressText(address),
      again: { opener: tcpOpener(address), secret },
      abandon: () => connection.drop(new SwankError("CONNECTION_LOST", DEAD, { remedy: CALL_AGAIN })),
    });
    return lispSession({
      ...known,
      client,
      check,
      origin,
      remarks: [...(origin.warning === undefined ? [] : [origin.warning]), ...client.notes, ...(known?.remarks ?? [])],
      identity: await identify(client),
      directory: (asked) => imageDirectory(client, asked),
      awaitedLock: () => awaitedLockOf(client),
      explainLoss: async () => `The connection to ${addressText(address)} was lost: ${(await client.closed).message}`,
      close: () => client.close(),
    });
  } catch (error) {
    throw explainUnattached(error, address);
  }
}

/** The identity of an image: its process id and start time. An image that does not give its start time has only the id. */
async function identify(client: SwankClient): Promise<string> {
  const asked = client.lisp.with({ timeout: ANSWER_TIME }).run(imageCalls.processStart);
  return `${client.info.pid} ${(await asked.catch(() => undefined)) ?? ""}`;
}

function secretOption({ secretFile, noSecret }: Config): { readonly file: string } | false | undefined {
  if (noSecret) return false;
  return secretFile === undefined ? undefined : { file: secretFile };
}

const HOW = { core: "from a core", "built-core": "from a new core", loaded: "without a core" } as const;

/** Milliseconds to wait for the end of an image whose file did not return: SBCL waits 2 s for its threads, exit hooks take longer. */
const EXIT_TIME = 4000;

/** Lines of output that a notice repeats from a file that failed to load. */
const LAST_LINES = 12;

const NO_CORE = "There is no Lisp core for this SBCL and Swank yet.";

const LATER = "Launches that find the core start at once.";

const LOADING = `${NO_CORE} Swank is loaded, which takes a few seconds, and a core is then built in the background. ${LATER}`;

const BUILDING = `${NO_CORE} It is built first, which takes about 10 seconds. ${LATER}`;

interface OwnImageHost {
  readonly log: Log;
  readonly sharing: Sharing | undefined;
  readonly onDelay: OnDelay;
  readonly onFile: OnFile;
  readonly agentName?: AgentName;
}

/** Launches an image, connects to it, and loads the user's files into it. @throws SwankError - nothing is left running then */
async function openOwnImage(
  config: Config,
  { log, sharing, onDelay, onFile, agentName }: OwnImageHost,
  signal: AbortSignal,
): Promise<LispSession> {
  const { lisp, swank, cacheDir, dynamicSpaceSize, noCore } = config;
  // An agent that has a connection of its own receives errors before one that nobody uses.
  const foreignErrors = agentName === undefined ? "last" : config.foreignErrors;
  const image = await launchImage({
    lisp,
    swank,
    cacheDir,
    dynamicSpaceSize,
    ...(noCore ? { useCore: false } : {}),
    signal,
    onLog: (line) => log(`image: ${line}`),
    // The entries of a script in the console may end sooner than the build, and would end it.
    buildInBackground: config.command !== "console",
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
  const name = sharing === undefined ? undefined : agentName?.text;
  const client = await connectLaunched(image, {
    signal,
    foreignErrors,
    threadOutput: true,
    sessionForms: true,
    agentName: name,
  }).catch((error: unknown) => {
    throw explainUnlaunched(error, config);
  });
  const { notes } = client;
  log(`launched ${client.abilities.implementation}, pid ${image.pid}, ${HOW[image.how]}`);
  for (const note of notes) log(`launch: ${note}`);
  void image.coreBuild?.then((end) => {
    log(`launch: the core for later launches: ${end.status === "failed" ? `failed: ${end.reason}` : end.status}`);
  });
  try {
    const loaded = await loadFiles(config, { client, image, onFile }, signal);
    // The session begins with this, and has the syntax that the files have set. A core contains the runtime: the first evaluation need not ask.
    if (image.how !== "loaded") client.prepare().catch(() => undefined);
    // What the files wrote to the process's own streams is then read, and is not taken for the output of an evaluation.
    await setImmediate();
    const shared = await sharing?.share(client);
    return lispSession({
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
        since: (position) => image.outputSince(position),
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

/** Loads the init files that the Lisp itself would load, and the files of `--load`. */
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

function problemOf(shared: SharedAt | undefined): string[] {
  return shared !== undefined && "problem" in shared ? [shared.problem] : [];
}

function failureNotice({ path, status, error, output }: LoadedFile): string[] {
  if (status === "loaded") return [];
  if (status === "missing") return [`${path} was not loaded: there is no such file. Check --load.`];
  const said = output.trim().split("\n").slice(-LAST_LINES).join("\n");
  return [`${path} was only partly loaded: ${error}${said === "" ? "" : `\n${said}`}`];
}

type SharingSecret = Pick<Config, "secretFile" | "noSecret" | "cacheDir">;

type FoundSecret = { readonly file: string | undefined; readonly isMade: boolean } | { readonly problem: string };

/** Shares the images of this server, each on the port of its predecessor. */
class Sharing {
  readonly #wanted: number;
  readonly #secret: SharingSecret;
  readonly #tell: Log;
  #last: number | undefined;

  /**
   * @param wanted - The port; 0 for any free port.
   * @param tell - Tells the user how to connect.
   */
  constructor(wanted: number, secret: SharingSecret, tell: Log) {
    this.#wanted = wanted;
    this.#secret = secret;
    this.#tell = tell;
  }

  /** Shares an image, and reports the result. Rejects only if the connection is lost: the agent can also use an unshared image. */
  async share(client: SwankClient): Promise<SharedAt> {
    const secret = await this.#findSecret();
    const shared = "problem" in secret ? secret : await this.#open(client, secret.file);
    const isMade = "file" in secret && secret.isMade;
    for (const line of "problem" in shared ? [shared.problem] : howToJoin(shared, isMade)) this.#tell(line);
    return shared;
  }

  async #findSecret(): Promise<FoundSecret> {
    const { noSecret, secretFile, cacheDir } = this.#secret;
    if (noSecret) return { file: undefined, isMade: false };
    try {
      return await findShareSecret({ file: secretFile, cacheDir });
    } catch (error) {
      const { message, remedy } = explanation(error);
      return { problem: `The image is not shared: ${message} ${remedy}` };
    }
  }

  async #open(client: SwankClient, secretFile: string | undefined): Promise<SharedAt> {
    const ask = (port: number) => client.run(shareImage, port, secretFile);
    const port = this.#last ?? this.#wanted;
    const first = await ask(port);
    const answer = first.status === "in-use" && port !== this.#wanted ? await ask(this.#wanted) : first;
    if (answer.status === "shared") {
      this.#last = answer.port;
      return { address: `${DEFAULT_HOST}:${answer.port}`, secretFile };
    }
    const why =
      answer.status === "in-use"
        ? `another program listens on port ${port}. Start swank-mcp with another --share port, or with --share alone for any free port`
        : answer.message;
    return { problem: `The image is not shared: ${why}.` };
  }
}

/** What the user types in Emacs to connect. `slime-connect` itself sends only the secret in `~/.slime-secret`. */
function howToJoin({ address, secretFile }: Extract<SharedAt, { address: string }>, isMade: boolean): string[] {
  const typed = `shared: M-x slime-connect RET ${address.replace(":", " RET ")}`;
  if (secretFile === undefined) return [`${typed}. No secret is required: every user of this machine can connect.`];
  if (!isMade) return [typed];
  return [
    `shared on ${address}. A secret was created in ${secretFile}, because there is no ~/.slime-secret. To connect from Emacs, evaluate this form with M-: :`,
    emacsForm(address, secretFile),
  ];
}

function emacsForm(address: string, file: string): string {
  const [host, port] = address.split(":");
  const secret = `(lambda () (with-temp-buffer (insert-file-contents ${lispString(file)}) (buffer-string)))`;
  return `(progn (require 'slime) (cl-letf (((symbol-function 'slime-secret) ${secret})) (slime-connect ${lispString(host ?? "")} ${port})))`;
}

function lispString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function explanation(error: unknown): { message: string; remedy: string } {
  const message = error instanceof Error ? error.message : String(error);
  return { message, remedy: error instanceof SwankError ? error.remedy : "" };
}
