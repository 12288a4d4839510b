import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Decoded, decode, keyword, type Sexp } from "sexp-parser";
import { Abilities } from "../base/abilities.js";
import { asSwankError, SwankError, type SwankErrorCode } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type CallLimits, eitherSignal, LimitedTasks, onLimit } from "../base/waiting.js";
import { type LispFunction, lispFunction } from "../runtime/function.js";
import { type LoadLimits, type ModuleLoader, openingCall } from "../runtime/loader.js";
import { type LispRunner, runnerOf } from "../runtime/runner.js";
import { moduleFor, runtimeModule } from "../runtime/runtime.js";
import { slynkOpeningPrinter, slynkPrinter } from "../runtime/slynk.js";
import { Connection, type ConnectionOptions, connectionOptions } from "../wire/connection.js";
import { featureName } from "../wire/messages.js";
import { ownCode } from "../wire/sent.js";
import { listenForm, portBeside, type TransportOpener } from "../wire/transport.js";

const OTHERS_READ = 0o044;

/** The secret in a file, and whether other users can read it. */
interface SecretFile {
  readonly file: string;
  /** The first line. */
  readonly secret: string;
  readonly mode: number;
}

/**
 * The user's secret, where Emacs and Swank look for it (slime.el and swank.lisp, `slime-secret`), or SLY and Slynk (sly.el and slynk.lisp,
 * `sly-secret`); `undefined` if there is no such file.
 *
 * @throws SwankError `SECRET_UNREADABLE`
 */
export async function ownSecret(
  name: ".slime-secret" | ".sly-secret" = ".slime-secret",
): Promise<SecretFile | undefined> {
  const file = join(homedir(), name);
  return readFirstLine(file).catch((cause: unknown) => (isMissing(cause) ? undefined : unreadable(file, cause)));
}

/** @throws SwankError `SECRET_UNREADABLE` */
export async function readSecretFile(file: string): Promise<SecretFile> {
  return readFirstLine(file).catch((cause: unknown) => unreadable(file, cause));
}

export function emptySecret(file: string): SwankError {
  return new SwankError("SECRET_UNREADABLE", `The first line of the secret file is empty: ${file}`);
}

/** True if users other than the owner may read a file with this mode. */
export function readableByOthers(mode: number): boolean {
  return process.getuid !== undefined && (mode & OTHERS_READ) !== 0;
}

async function readFirstLine(file: string): Promise<SecretFile> {
  const opened = await open(file, "r");
  try {
    const { mode } = await opened.stat();
    const [secret = ""] = (await opened.readFile("utf8")).split("\n", 1);
    return { file, secret, mode };
  } finally {
    await opened.close();
  }
}

function unreadable(file: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("SECRET_UNREADABLE", `The secret file cannot be read: ${file} (${reason})`, { cause });
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}

/**
 * The secret to send to a server: its text, a file that holds it, or none.
 *
 * The default is the content of `~/.slime-secret` if that exists, for every host, as in Emacs (slime.el, `slime-secret`). Otherwise it is that of
 * SLY's `~/.sly-secret`, if that exists and the server is on this machine; a server that wants no secret then gets none.
 */
export type SecretOption = string | { readonly file: string } | false;

/** A secret to be sent. */
interface FoundSecret {
  readonly text: string;
  /** A warning if other users can read the secret. */
  readonly warning: string | undefined;
  /** The secret is SLY's, and the server may be Swank. No other machine gets it. */
  readonly forSlynk?: true;
}

/**
 * Finds the secret. In a file, it is the first line.
 *
 * @returns `undefined` if no secret is to be sent.
 * @throws SwankError `SECRET_UNREADABLE`, before anything is sent, because a server that gets a wrong secret stops accepting connections.
 */
async function findSecret(option: SecretOption | undefined): Promise<FoundSecret | undefined> {
  if (option === false) return undefined;
  if (typeof option === "string") return { text: option, warning: undefined };
  if (option === undefined) {
    // An empty first line is a valid secret, because a server that reads the same file expects it.
    const own = await ownSecret();
    if (own !== undefined) return inFile(own);
    const ofSly = await ownSecret(".sly-secret");
    return ofSly && { ...inFile(ofSly), forSlynk: true };
  }
  const found = await readSecretFile(option.file);
  if (found.secret === "") throw emptySecret(option.file);
  return inFile(found);
}

function inFile({ file, secret, mode }: SecretFile): FoundSecret {
  const warning = `Other users of this machine can read the secret in ${file}. To prevent this, run chmod 600 ${file}.`;
  return { text: secret, warning: readableByOthers(mode) ? warning : undefined };
}

const { from, integer, keywordName, list, map, nullable, plist, string, withDefault } = decode;

const text = withDefault(nullable(string), undefined);

const NO_NAMES: readonly string[] = [];

const info = plist({
  /** Process id on the image's machine; `undefined` where Lisp does not know it. */
  pid: withDefault(nullable(integer), undefined),
  /** Communication style in lower case: `spawn` serves each request in its own thread. `undefined` for `nil`, which has no threads. */
  style: withDefault(nullable(map(keywordName, (name) => name.toLowerCase())), undefined),
  /** E.g. `SBCL` and `sbcl`; the program where Lisp knows it. */
  implementation: from("lisp-implementation", plist({ type: string, name: string, version: string, program: text })),
  machine: withDefault(plist({ instance: text, type: text, version: text }), {
    instance: undefined,
    type: undefined,
    version: undefined,
  }),
  /** Names of `*features*`, upper case, without colons. */
  features: withDefault(list(featureName), NO_NAMES),
  /** Names in `*modules*`, as they were provided. */
  modules: withDefault(list(string), NO_NAMES),
  /** The image's global package. */
  package: plist({ name: string, prompt: string }),
  /** E.g. `2.27` or `2.32.git`, a date in old releases, `undefined` when Swank was loaded in a way that lost it. */
  version: nullable(string),
});

/** Swank's description of its image. */
export interface ConnectionInfo extends Decoded<typeof info> {}

/** `(swank:connection-info)`: describes the image and its Swank. */
export const connectionInfo = lispFunction({
  name: "swank:connection-info",
  decode: info,
});

/** The same for Slynk. */
const slynkConnectionInfo = lispFunction({ name: "slynk:connection-info", decode: info });

/**
 * The same for the first request of a connection whose client needs no indentation rules. Swank then does not look through the macros of all
 * packages for these rules after the reply.
 */
export const connectionInfoWithoutRules = lispFunction({
  name: "cl:progn",
  encode: () => [NO_RULES, UNDISTURBED],
  decode: info,
  label: () => connectionInfo.name,
});

/** Code on one line: Slynk's reader of messages takes no line end for white space. */
function lineOfCode(text: string): Sexp {
  return ownCode(text.replaceAll(/\s+/g, " "));
}

/**
 * Makes Swank look for the rules of new packages only. It names Swank's symbols by strings, which any server can read, and consists of calls
 * that Lisp evaluates without its compiler. Slynk serves in threads that are no Swank connection's.
 */
const NO_RULES = lineOfCode(
  `(cl:if (cl:find-package "SWANK")
          (cl:if (cl:fboundp (cl:list 'cl:setf (cl:find-symbol "CONNECTION.INDENTATION-CACHE-PACKAGES" "SWANK")))
                 (cl:if (cl:symbol-value (cl:find-symbol "*EMACS-CONNECTION*" "SWANK"))
                        (cl:funcall (cl:fdefinition
                                     (cl:list 'cl:setf (cl:find-symbol "CONNECTION.INDENTATION-CACHE-PACKAGES" "SWANK")))
                                    (cl:list-all-packages)
                                    (cl:symbol-value (cl:find-symbol "*EMACS-CONNECTION*" "SWANK")))
                        nil)
                 nil)
          nil)`,
);

/**
 * Calls Swank's function so that neither the user's `*break-on-signals*` nor a global package that was deleted stops it; code cannot delete
 * COMMON-LISP. Lisp evaluates this without its compiler, too.
 */
const UNDISTURBED = lineOfCode(
  `(swank::call-with-bindings
     (cl:list '(cl:*break-on-signals*)
              (cl:cons 'cl:*package*
                       (cl:if (cl:package-name cl:*package*) cl:*package* (cl:find-package "COMMON-LISP"))))
     (cl:function swank:connection-info))`,
);

/** What the image can do that has described itself so. */
export function abilitiesOf(info: ConnectionInfo): Abilities {
  const { type, version } = info.implementation;
  return new Abilities(type, version, info.style, isSlynk(info) ? "slynk" : "swank");
}

/** The oldest release that this package supports: the first with `:ed-rpc`. */
const OLDEST = { major: 2, minor: 24 } as const;

/** The server of a connection. */
interface CheckedServer {
  /** E.g. `127.0.0.1:4005`. */
  readonly description: string;
  readonly port: number | undefined;
}

/**
 * Checks that this package supports an image.
 *
 * @throws SwankError `SLYNK`, `SWANK_TOO_OLD`, `NO_THREADS`
 */
function checkImage(info: ConnectionInfo, server: CheckedServer): void {
  const { description } = server;
  if (isSlynk(info)) {
    if (info.implementation.type !== "SBCL") throw slynk(info, server);
  } else if (isTooOld(info.version)) {
    throw new SwankError(
      "SWANK_TOO_OLD",
      `${description} runs Swank ${info.version}; the oldest supported one is 2.24.`,
    );
  }
  // Other Lisps may have no threads.
  if (info.style !== "spawn" && info.implementation.type === "SBCL") throw noThreads(info, server);
}

/**
 * Slynk also accepts Swank's names (slynk-rpc.lisp, `*translating-swank-to-slynk*`) but has its own version, 1.x, which no Swank has had that knows
 * it. One image can run both, and users can set `*features*`.
 */
function isSlynk({ features, version }: ConnectionInfo): boolean {
  return version?.startsWith("1.") === true || (features.includes("SLYNK") && !features.includes("SWANK"));
}

function slynk(
  { modules, implementation: { type } }: ConnectionInfo,
  { description, port }: CheckedServer,
): SwankError {
  const free = portBeside(port);
  // SLY's contrib sly-retro gives Slynk's packages the nickname SWANK, so that Swank cannot create its own.
  const isRetro = modules.some((module) => module.toUpperCase() === "SLYNK/RETRO");
  const first = isRetro ? "Take sly-retro out of SLY's sly-contribs and restart the Lisp. " : "";
  const remedy = `${first}Load Swank into the image beside Slynk, (ql:quickload :swank), start it with ${listenForm(free)}, and connect to port ${free}.`;
  const message = `${description} is SLY's Slynk in ${type}; Slynk is supported only in SBCL.`;
  return new SwankError("SLYNK", message, { remedy, details: { port: free } });
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

/** The state of a handshake that failed. */
interface FailedHandshake extends CheckedServer {
  /** A secret was sent. */
  readonly secretSent: boolean;
  /** A sentence on the risk, if the secret was sent over a network. */
  readonly exposure: string | undefined;
  /** At least one Swank message arrived. */
  readonly heard: boolean;
}

/** Error codes of a peer that speaks another protocol. */
const GARBAGE: ReadonlySet<SwankErrorCode> = new Set(["BAD_FRAME", "FRAME_TOO_LARGE", "UNREADABLE_MESSAGE"]);

/** Error codes of a peer that does not answer, or closes the connection. */
const SILENCE: ReadonlySet<SwankErrorCode> = new Set(["REQUEST_TIMEOUT", "CONNECTION_LOST"]);

/**
 * True if the server reset the connection before it answered, as a system does when too many clients connect at once. A secret is never sent again
 * for that: each wrong one stops Swank from accepting clients.
 */
function mayConnectAgain(error: unknown): boolean {
  if (!(error instanceof SwankError)) return false;
  return (error.code === "NOT_SWANK" || error.code === "CONNECT_FAILED") && isReset(error.cause);
}

function isReset(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ("code" in cause && cause.code === "ECONNRESET") return true;
  return false;
}

/** What to do about a server that keeps resetting connections. */
const TRY_AGAIN = "If many clients connect at once, or the image is busy, try again.";

/** Turns the failure of the first request into an error about connecting. */
function handshakeError(failure: unknown, handshake: FailedHandshake): SwankError {
  const error = explain(failure, handshake);
  const { exposure } = handshake;
  if (exposure === undefined) return error;
  const { code, message, remedy, details, cause } = error;
  return new SwankError(code, `${message} ${exposure}`, { cause, remedy, details });
}

function explain(failure: unknown, handshake: FailedHandshake): SwankError {
  const cause = asSwankError(failure);
  if (GARBAGE.has(cause.code)) return notSwank(handshake, `does not speak Swank's protocol: ${cause.message}`, cause);
  if (cause.code === "REQUEST_UNREADABLE")
    return notSwank(handshake, "is a Lisp without Swank and without SLY's Slynk.", cause);
  if (cause.code === "UNEXPECTED_REPLY") return oddSwank(handshake, cause);
  if (!SILENCE.has(cause.code) || handshake.heard) return cause;
  const isClosed = cause.code === "CONNECTION_LOST";
  if (handshake.secretSent) return isClosed ? noSecretWanted(handshake, cause) : wrongSecret(handshake, cause);
  return silent(handshake, isClosed, cause);
}

function notSwank({ description, port }: FailedHandshake, what: string, cause: SwankError): SwankError {
  const free = portBeside(port);
  const remedy = `Check the port. If the Lisp has no Swank, load it, (ql:quickload :swank); ${listenForm(free)} starts it on a separate port. Then connect to port ${free}.`;
  return new SwankError("NOT_SWANK", `${description} ${what}`, {
    cause,
    remedy,
    details: { ...cause.details, port: free },
  });
}

/** The peer replied to Swank's first request. Until 2006 the reply was a plain list without a version. */
function oddSwank({ description }: FailedHandshake, cause: SwankError): SwankError {
  return new SwankError(
    "SWANK_TOO_OLD",
    `${description} does not answer as Swank 2.24 and newer do: ${cause.message}`,
    {
      cause,
      details: cause.details,
    },
  );
}

/** A Swank without a secret decodes the first packet as a message, which must be a list (swank.lisp, `decode-message`). */
function noSecretWanted({ description }: FailedHandshake, cause: SwankError): SwankError {
  const [ended, last] = isReset(cause) ? ["reset", ` ${TRY_AGAIN}`] : ["closed", ""];
  return new SwankError("SECRET_REJECTED", `${description} ${ended} the connection after it received the secret.`, {
    cause,
    remedy: `Send none if the user who runs the server has no ~/.slime-secret, or ~/.sly-secret for SLY's Slynk, which is most likely; else give that file's first line.${last}`,
    details: cause.details,
  });
}

function wrongSecret(handshake: FailedHandshake, cause: SwankError): SwankError {
  const { description } = handshake;
  return new SwankError("SECRET_REJECTED", `${description} does not answer after it received the secret.`, {
    cause,
    remedy: `Give the first line of ~/.slime-secret, or of ~/.sly-secret for SLY's Slynk, of the user who runs the server, or no secret when there is no such file. ${restartHint(handshake)}`,
    details: cause.details,
  });
}

/** Swank stays silent if it expects a secret and gets none, so a missing secret is only one possible reason. */
function silent(handshake: FailedHandshake, isClosed: boolean, cause: SwankError): SwankError {
  const [ended, first] = isReset(cause) ? ["reset", `${TRY_AGAIN} `] : ["closed", ""];
  const silence = isClosed ? `${ended} the connection without an answer` : "does not answer";
  const tunnel = isClosed ? " A tunnel does this when nothing listens at its other end." : "";
  return new SwankError("NOT_SWANK", `${handshake.description} ${silence}.`, {
    cause,
    remedy: `${first}Check that the port is Swank's and that the image is not stuck.${tunnel} If the user who runs it has a ~/.slime-secret, or a ~/.sly-secret for SLY's Slynk, give that file's first line as the secret. ${restartHint(handshake)}`,
    details: { ...cause.details, secretMissing: true },
  });
}

/** From then on the thread that accepts connections is stopped in the debugger (swank.lisp, `authenticate-client`). */
function restartHint({ port = 4005 }: FailedHandshake): string {
  return `A Swank that received a wrong secret, or none, answers no client until it is restarted: (swank:restart-server :port ${port} :dont-close t), with slynk: for Slynk.`;
}

/** Milliseconds. */
export const DEFAULT_TIMEOUT = 10_000;

/**
 * The longest pauses, in milliseconds, before the next attempts to connect to a server that has reset the connection before it answered. Swank lets
 * five connections wait for it (swank/sbcl.lisp, `create-socket`), and the system resets others. Each pause has a random length, at least half of this.
 */
const PAUSES_AFTER_RESET = [100, 200, 400, 800];

/** Milliseconds that an attempt may take longer than all of them may. */
const MARGIN = 50;

export const openOptions = {
  ...connectionOptions,
  secret: check.any<SecretOption>(),
  /** Milliseconds for everything, from opening the transport to the first reply; default 10000. */
  timeout: check.milliseconds,
  /** Gives up when aborted, and rejects when the connection is closed: in milliseconds, or after a second if the server hangs. */
  signal: check.signal,
};

/** Options for opening a connection. */
export interface OpenOptions extends OptionsOf<typeof openOptions> {}

/** A connection to a supported image. */
export interface OpenedConnection {
  readonly connection: Connection;
  readonly info: ConnectionInfo;
  /** Notes for the user about the connection, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Opens the transport, sends the secret, and checks that the server is a supported one. Leaves nothing open if it fails.
 *
 * @throws SwankError the errors of the transport's opener, and `NOT_SWANK`, `SLYNK`, `SWANK_TOO_OLD`, `NO_THREADS`,
 * `SECRET_REJECTED`, `SECRET_UNREADABLE`, `CONNECTION_LOST`, `CANCELLED`, `INVALID_ARGUMENT`
 */
export async function openConnection(opener: TransportOpener, options: OpenOptions = {}): Promise<OpenedConnection> {
  checkOptions("openConnection", options, openOptions);
  return openWith(connectionInfo, opener, options);
}

/**
 * The same with another first request.
 *
 * @param firstRequest - Describes the image.
 * @param options - Already checked.
 * @throws SwankError the errors of `openConnection`.
 */
export async function openWith(
  firstRequest: LispFunction<[], ConnectionInfo>,
  opener: TransportOpener,
  options: OpenOptions,
): Promise<OpenedConnection> {
  const { timeout = DEFAULT_TIMEOUT, signal, secret, ...connectionOptions } = options;
  const found = opener.takesNoSecret === true ? undefined : await findSecret(secret);
  const deadline = performance.now() + timeout;
  const attempt: Attempt = { firstRequest, opener, secret: found, deadline, signal };
  const attemptNow = opener.server === undefined ? openOnce : openInTime;
  const opening = attemptNow(attempt, connectionOptions);
  if (opener.takesNoSecret === true) return opening;
  const again = (now: Attempt) => (error: unknown) => openAgain(now, connectionOptions, error);
  return opening.catch(again(attempt)).catch((error: unknown) => {
    if (!wantsNoSecret(attempt, error)) throw error;
    const without = { ...attempt, secret: undefined };
    return attemptNow(without, connectionOptions).catch(again(without));
  });
}

/** The secret for another machine: one that nobody chose, for a server that may be none of the user's, stays here. */
function secretForOthers({ secret }: Attempt): FoundSecret | undefined {
  return secret?.forSlynk === true ? undefined : secret;
}

/** True if the server is one that closes the connection when it gets a secret, which was SLY's. One that wants another secret does not close it. */
function wantsNoSecret({ secret }: Attempt, error: unknown): boolean {
  if (secret?.forSlynk !== true || !(error instanceof SwankError) || error.code !== "SECRET_REJECTED") return false;
  return error.cause instanceof SwankError && error.cause.code === "CONNECTION_LOST";
}

/**
 * Tries again while the system resets the connection before the server answers.
 *
 * @throws SwankError the last such error when there is no time left, and any other error at once
 */
async function openAgain(attempt: Attempt, options: ConnectionOptions, failure: unknown): Promise<OpenedConnection> {
  let reset = failure;
  for (const longest of PAUSES_AFTER_RESET) {
    const wait = (longest * (1 + Math.random())) / 2;
    if (!mayConnectAgain(reset) || performance.now() + wait >= attempt.deadline) break;
    await pause(wait, undefined, { signal: attempt.signal }).catch(() => undefined);
    try {
      return await openInTime(attempt, options);
    } catch (error) {
      if (isConnectTimeout(error)) break;
      reset = error;
    }
  }
  throw reset;
}

function isConnectTimeout(error: unknown): boolean {
  return error instanceof SwankError && error.code === "CONNECT_TIMEOUT";
}

/** Connections that Swank lets wait until it accepts them (swank/sbcl.lisp, `create-socket`). */
const MOST_UNANSWERED = 5;

/** The attempts of this process to connect to each server. */
const attempts = new Map<string, LimitedTasks>();

/**
 * Makes an attempt to connect to a server when few others of this process wait for its answer. The system drops connections for which there is no
 * room, and sends all of them again at the same times, seconds later: some of a hundred that begin at once would take longer than they may.
 *
 * @param server - `undefined`: nothing waits.
 * @param connect - Settles when the server has answered.
 */
async function inTurn<Result>(
  server: string | undefined,
  patience: CallLimits,
  connect: () => Promise<Result>,
): Promise<Result> {
  if (server === undefined) return connect();
  const others = attempts.get(server) ?? new LimitedTasks(MOST_UNANSWERED);
  attempts.set(server, others);
  try {
    return await others.run(connect, patience);
  } finally {
    if (others.isIdle) attempts.delete(server);
  }
}

/**
 * An attempt in its turn, which ends with the time of all. The signal for the opener is not aborted after that, because a socket may depend on it.
 *
 * @throws SwankError `CONNECT_TIMEOUT` if there is no connection by then, and the errors of an attempt
 */
async function openInTime(attempt: Attempt, options: ConnectionOptions): Promise<OpenedConnection> {
  const { opener, deadline, signal } = attempt;
  const half = Math.max(0, deadline - performance.now()) / 2;
  return inTurn(opener.server, { timeout: half, signal }, async () => {
    const late = new AbortController();
    // Later than the first request's own timeout, whose error says more.
    const timeout = Math.max(0, deadline - performance.now()) + MARGIN;
    const release = onLimit({ timeout }, () => late.abort());
    try {
      return await openOnce({ ...attempt, signal: eitherSignal(signal, late.signal) }, options);
    } catch (cause) {
      const isLate = cause instanceof SwankError && cause.code === "CANCELLED" && signal?.aborted !== true;
      if (!isLate) throw cause;
      const message = `${opener.server ?? "The server"} did not accept the connection in time.`;
      throw new SwankError("CONNECT_TIMEOUT", message, { cause });
    } finally {
      release();
    }
  });
}

/** One attempt to open a connection. */
interface Attempt {
  readonly firstRequest: LispFunction<[], ConnectionInfo>;
  readonly opener: TransportOpener;
  readonly secret: FoundSecret | undefined;
  /** The time of `performance.now()` at which the wait for the first reply ends. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

async function openOnce(attempt: Attempt, connectionOptions: ConnectionOptions): Promise<OpenedConnection> {
  const { firstRequest, opener, deadline, signal } = attempt;
  const factory = await opener(signal).catch(connectFailed);
  const secret = factory.peer?.isLoopback === false ? secretForOthers(attempt) : attempt.secret;
  const connection = new Connection(factory, { ...connectionOptions, secret: secret?.text });
  const exposure = secret === undefined ? undefined : exposureOf(connection);
  const server = { description: connection.description, port: connection.peer?.port };
  let heard = false;
  const stop = connection.on("event", () => {
    heard = true;
  });
  try {
    const remaining = Math.max(1, deadline - performance.now());
    const lisp = runnerOf(connection).with({ timeout: remaining, signal });
    const info = await describedBy(firstRequest, lisp);
    checkImage(info, server);
    if (isSlynk(info)) connection.speak(slynkOpeningPrinter(runtimeModule("connection").version));
    const notes = [secret?.warning, exposure, serialNote(abilitiesOf(info))];
    return { connection, info, notes: notes.filter((note) => note !== undefined) };
  } catch (error) {
    await connection.leave();
    throw handshakeError(error, { ...server, secretSent: secret !== undefined, exposure, heard });
  } finally {
    stop();
  }
}

/** A sentence on an image that serves one request at a time. */
function serialNote(abilities: Abilities): string | undefined {
  if (!abilities.isSerial) return undefined;
  return `${abilities.implementation} has no threads: it serves one request at a time, code that runs cannot be interrupted, and a stop blocks it until it is resumed or aborted.`;
}

/** The codes of errors after which a server can still answer. */
const NOT_UNDERSTOOD: readonly SwankErrorCode[] = ["REQUEST_FAILED", "REQUEST_ABORTED", "REQUEST_UNREADABLE"];

/** What an image says of itself. A server that does not understand the first request, such as one for another language, is asked plainly. */
async function describedBy(firstRequest: LispFunction<[], ConnectionInfo>, lisp: LispRunner): Promise<ConnectionInfo> {
  try {
    return await lisp.run(firstRequest);
  } catch (error) {
    const isAnswer = error instanceof SwankError && NOT_UNDERSTOOD.includes(error.code);
    if (!isAnswer) throw error;
    if (firstRequest !== connectionInfo) return describedBy(connectionInfo, lisp);
    // A Slynk whose user has switched off that it translates Swank's names knows only its own.
    if (error.code === "REQUEST_UNREADABLE") return lisp.run(slynkConnectionInfo).catch(() => Promise.reject(error));
    throw error;
  }
}

/** An application's own transport may reject with any value. */
function connectFailed(cause: unknown): never {
  if (cause instanceof SwankError) throw cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("CONNECT_FAILED", `The transport could not be opened: ${message}`, { cause });
}

/** A warning if the secret was sent over a network. */
function exposureOf({ peer, description }: Connection): string | undefined {
  if (peer === undefined || peer.isLoopback) return undefined;
  return `The secret was sent unencrypted to ${description}, which is another machine: anyone who can read the network traffic knows it now.`;
}

/**
 * Who receives errors from background threads. `auto`: another client if one is connected, otherwise this one. `mine`: this one, until it
 * disconnects. `theirs`: never this one. `last`: this one while no other client is connected.
 */
export type ForeignErrors = "auto" | "mine" | "theirs" | "last";

/** Sets up a new connection so that it does not disturb other clients, and so that the image cleans up after it. Gives the number of others. */
export const attachImage = lispFunction({
  name: "attach",
  ability: "evaluate",
  module: "connection",
  encode: (foreignErrors: ForeignErrors) => [keyword(foreignErrors)],
  decode: integer,
  label: () => "attaching",
});

export const attachOptions = {
  /** Default: `auto`. */
  foreignErrors: check.choice(["auto", "mine", "theirs", "last"]),
};

/** Options for sharing an image with other clients. */
export interface AttachOptions extends OptionsOf<typeof attachOptions> {}

/**
 * Sets up a new connection so that it does not disturb other clients, and so that the image cleans up after it.
 *
 * @throws SwankError the errors of `ModuleLoader.load`.
 */
export async function attach(
  connection: Connection,
  loader: ModuleLoader,
  { kind }: Pick<Abilities, "kind">,
  { foreignErrors = "auto" }: AttachOptions,
  limits: LoadLimits,
): Promise<void> {
  await loader.load(moduleFor(kind, "connection"), openingCall(attachImage, foreignErrors), limits);
  if (kind === "sbcl-slynk") connection.speak(slynkPrinter(runtimeModule("connection").version));
}
