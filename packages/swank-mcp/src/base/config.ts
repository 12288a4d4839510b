import { delimiter, resolve, sep } from "node:path";
import { nearest } from "../text/cut.js";
import { type Command, findCommand, readCommand, readWords, STANDARD_INPUT } from "./commands.js";
import {
  choiceOption,
  environmentName,
  flagOption,
  listOption,
  numberOption,
  type Option,
  OptionError,
  optionalNumberOption,
  optionHead,
  subsetOption,
  textOption,
} from "./option.js";

/** The families of tools, which `--tools` chooses. */
export const FAMILIES = ["core", "debug", "breakpoints", "code", "runtime"] as const;

/** A family of tools. */
export type Family = (typeof FAMILIES)[number];

/** The address of an image's Swank server. */
export interface ImageAddress {
  readonly host: string;
  readonly port: number;
}

/** Swank's default port (`swank::default-server-port`). */
export const DEFAULT_PORT = 4005;

/** A number instead of `localhost`, which a minimal container may not resolve. */
export const DEFAULT_HOST = "127.0.0.1";

/** Reads `[HOST:]PORT`; IPv6 hosts are in brackets. @throws OptionError - when the text does not have that form. */
function readAddress(text: string, source: string): ImageAddress {
  if (text === "") return { host: DEFAULT_HOST, port: DEFAULT_PORT };
  const match = /^(?:(?<host>\[[^\]]+\]|[^:[\]]+):)?(?<port>\d+)$/.exec(text);
  const port = Number(match?.groups?.["port"]);
  if (match === null || !(port >= 1 && port <= 65535)) {
    throw new OptionError(
      `${source} takes [HOST:]PORT, for example 4005 or 127.0.0.1:4005, not ${JSON.stringify(text)}.`,
    );
  }
  const host = match.groups?.["host"]?.replace(/^\[|\]$/g, "");
  return { host: host ?? DEFAULT_HOST, port };
}

export function addressText({ host, port }: ImageAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Reads a port; 0, and an empty text, stand for any free port. @throws OptionError - when the text is not a port. */
function readFreePort(text: string, source: string): number {
  const port = Number(text);
  if (/^\d*$/.test(text) && port <= 65535) return port;
  throw new OptionError(
    `${source} takes a port, for example 4006, or nothing for any free one, not ${JSON.stringify(text)}.`,
  );
}

const attach: Option<ImageAddress | undefined> = {
  flag: "--attach",
  placeholder: "[HOST:]PORT",
  valueOptional: true,
  brief: "Use the image whose Swank listens there (4005).",
  summary: "Attach to the image whose Swank listens there instead of launching one. --attach alone means port 4005.",
  fallback: "launch an image",
  read: (texts, source) => {
    const text = texts.at(-1);
    return text === undefined ? undefined : readAddress(text, source);
  },
};

/** An option for a port: without one, any free port. */
function freePortOption(flag: Option<unknown>["flag"], brief: string, summary: string): Option<number | undefined> {
  return {
    flag,
    placeholder: "PORT",
    valueOptional: true,
    brief,
    summary,
    read: (texts, source) => {
      const text = texts.at(-1);
      return text === undefined ? undefined : readFreePort(text, source);
    },
  };
}

const share = freePortOption(
  "--share",
  "Let your Emacs connect to the launched image.",
  "Let your Emacs connect to the launched image on this port of 127.0.0.1; --share alone means any free port. Clients that connect can do anything, so they need a secret: that of --secret-file, of ~/.slime-secret, or a generated one. Standard error says how to connect. The image is launched when the client asks for the list of tools (in the console, at once), and ends with the server.",
);

const help: Option<"short" | "all" | undefined> = {
  flag: "--help",
  placeholder: "all",
  valueOptional: true,
  summary: "Print a short help and exit; --help all: this list.",
  brief: "All options. docs/options.md has them, too.",
  read: (texts, source) => {
    const text = texts.at(-1);
    if (text === undefined || text === "all") return text;
    if (text === "" || text === "1") return "short";
    throw new OptionError(`${source} takes all, or nothing, not ${JSON.stringify(text)}.`);
  },
};

/** The table of options, from which the command line, the environment, `--help` and docs/options.md are derived. */
export const OPTIONS = {
  attach,
  secretFile: textOption({
    flag: "--secret-file",
    placeholder: "FILE",
    summary:
      "Read the secret from the first line of this file: that of the attached Swank, or with --share that of the launched image.",
    fallback: "~/.slime-secret if it exists, or SLY's ~/.sly-secret",
  }),
  noSecret: flagOption({
    flag: "--no-secret",
    summary:
      "Send no secret to the attached Swank, even if ~/.slime-secret or ~/.sly-secret exists. With --share: every user of the machine can connect.",
  }),
  lisp: textOption({
    flag: "--lisp",
    placeholder: "COMMAND",
    summary: "The program to launch: of SBCL, or of ECL, such as ecl.",
    fallback:
      "the environment variable SBCL, else sbcl on the PATH or where Homebrew, MacPorts or SBCL's installer puts it",
  }),
  swank: textOption({
    flag: "--swank",
    placeholder: "FOLDER",
    summary: "The folder that contains swank-loader.lisp, for the launched image.",
    fallback: "searched for in Quicklisp, ASDF, Emacs packages and system folders",
  }),
  load: listOption({
    flag: "--load",
    placeholder: "FILE",
    brief: "Load this file into the launched image.",
    summary: "Load this file into the launched image. May be repeated.",
  }),
  share,
  noUserInit: flagOption({
    flag: "--no-user-init",
    summary: "Do not load the user's init file, .sbclrc or .eclrc, into the launched image.",
  }),
  fix: flagOption({
    flag: "--fix",
    summary: "For check: write parentheses into the files, or take them out, as the indentation of the lines says.",
  }),
  dryRun: flagOption({
    flag: "--dry-run",
    summary: "For check --fix and setup: show what would be written, and write nothing.",
  }),
  cacheDir: textOption({
    flag: "--cache-dir",
    placeholder: "FOLDER",
    summary:
      "The folder for the saved core from which images are launched, and for the compiled code that attached images on this machine load.",
    fallback: "the user's cache folder",
  }),
  dynamicSpaceSize: optionalNumberOption({
    flag: "--dynamic-space-size",
    placeholder: "MEGABYTES",
    summary: "The heap size of the launched image, which must be SBCL.",
    fallback: "SBCL's own",
    min: 1,
    max: 16_777_216,
    whole: true,
  }),
  noCore: flagOption({ flag: "--no-core", summary: "Load Swank at each launch instead of using a saved core." }),
  timeout: numberOption({
    flag: "--timeout",
    placeholder: "SECONDS",
    summary: "Default when a call gives no timeout. The evaluation then pauses in the debugger.",
    fallback: 30,
    inConsole: "86400",
    min: 0.1,
    max: 86_400,
  }),
  onError: choiceOption({
    flag: "--on-error",
    choices: ["stop", "unwind"],
    summary:
      "What an error does to its thread. stop: the thread stops, with its frames and restarts. unwind: the error is reported and the evaluation aborted.",
  }),
  policy: choiceOption({
    flag: "--policy",
    choices: ["debug", "keep"],
    summary: "How evaluated code is compiled. debug: with all frames and variables. keep: by the image's own policy.",
  }),
  approval: choiceOption({
    flag: "--approval",
    choices: ["ask", "strict", "off"],
    inConsole: "off",
    brief: "Who allows changes to a stopped program.",
    summary:
      "Whether changes to a stopped program need the user's approval. ask: in the client, in Emacs and on the page; if nobody can be asked, only actions on other clients' threads are refused. strict: always. off: never.",
  }),
  readOnly: flagOption({
    flag: "--read-only",
    brief: "Only look: nothing is evaluated or changed.",
    summary:
      "Only read: no tool evaluates code, changes a definition, a breakpoint or a stop, or writes a file. Other tools are neither listed nor run. An attached image also keeps errors of its background threads, as with --foreign-errors theirs.",
  }),
  foreignErrors: choiceOption({
    flag: "--foreign-errors",
    choices: ["auto", "mine", "theirs"],
    summary:
      "Who receives errors from background threads. auto: Emacs or another connected client, otherwise the agent. mine: the agent. theirs: never the agent; without another client, the thread enters the image's own debugger.",
  }),
  maxStops: numberOption({
    flag: "--max-stops",
    placeholder: "N",
    summary: "Maximum number of stopped threads. When another one stops, the oldest is aborted.",
    fallback: 8,
    min: 1,
    max: 100,
    whole: true,
  }),
  stopMinutes: numberOption({
    flag: "--stop-minutes",
    placeholder: "N",
    summary: "Minutes after which a stopped thread is aborted.",
    fallback: 10,
    inConsole: "1440",
    min: 0.01,
    max: 1440,
  }),
  maxOutput: numberOption({
    flag: "--max-output",
    placeholder: "CHARACTERS",
    summary:
      "Maximum length of each output stream in an answer. The middle of longer output is omitted, but kept: a marker says how to read it.",
    fallback: 12_000,
    inConsole: "1000000",
    min: 5000,
    max: 1_000_000,
    whole: true,
  }),
  maxValue: numberOption({
    flag: "--max-value",
    placeholder: "CHARACTERS",
    summary: "Maximum length of one printed value in an answer.",
    fallback: 20_000,
    min: 100,
    max: 1_000_000,
    whole: true,
  }),
  tools: subsetOption({
    flag: "--tools",
    choices: FAMILIES,
    summary:
      "The tool families to offer, separated by commas. core: evaluate and describe. debug: inspect and resume stopped threads. breakpoints: stop at calls. code: read and search the program's source. runtime: observe the running program. Tools of other families are neither listed nor mentioned.",
  }),
  logFile: textOption({
    flag: "--log-file",
    placeholder: "FILE",
    brief: "Append a log of connections and calls to this file.",
    summary:
      "Append a log to this file: connections, launches, the image's own output, and each call with its tool, outcome and duration. Evaluated code, answers and secrets are not logged. The file must belong to the user; its permissions are set so that nobody else can read it.",
    fallback: "no log",
  }),
  ledger: textOption({
    flag: "--ledger",
    placeholder: "FILE",
    summary:
      "Append a line of JSON to this file for each call, with its code, for each question to the user, and for each answer, with output, values or report. Several servers can share the file. It contains all that the agent sends and sees, so only you can read it. docs/ledger.md has the fields.",
    fallback: "no ledger",
  }),
  channel: flagOption({
    flag: "--channel",
    summary:
      "Send the client an event when a thread stops that runs no call of the agent, or an evaluation in the background. For channels of Claude Code, which are experimental.",
  }),
  verbose: flagOption({ flag: "--verbose", summary: "Write the log to standard error." }),
  port: numberOption({
    flag: "--port",
    placeholder: "N",
    summary: "For http: the port to listen on; 0 means any free port.",
    fallback: 7787,
    min: 0,
    max: 65_535,
    whole: true,
  }),
  host: textOption({
    flag: "--host",
    placeholder: "ADDRESS",
    summary: "For http: the address to listen on. Another one than this machine's own needs --public-url.",
    fallback: DEFAULT_HOST,
  }),
  publicUrl: textOption({
    flag: "--public-url",
    placeholder: "URL",
    summary:
      "For http: the address by which clients reach a proxy in front of the server, such as https://lisp.example. Requests that name other hosts are refused.",
    fallback: "http://127.0.0.1:PORT",
  }),
  tokenFile: textOption({
    flag: "--token-file",
    placeholder: "FILE",
    summary: "For http and token: the file with the hashes of the clients' tokens. Only you can read it.",
    fallback: "swank-toolkit/tokens.json in the user's configuration folder",
  }),
  noToken: flagOption({
    flag: "--no-token",
    summary:
      "For http: serve clients without a token. Every user and program of this machine can then run code as you, so the server listens on this machine only.",
  }),
  maxClients: numberOption({
    flag: "--max-clients",
    placeholder: "N",
    summary: "For http: maximum number of clients at a time.",
    fallback: 32,
    min: 1,
    max: 1000,
    whole: true,
  }),
  sessionMinutes: numberOption({
    flag: "--session-minutes",
    placeholder: "N",
    summary:
      "For http: minutes without a request after which a client is forgotten. Its stops are aborted, and its breakpoints removed.",
    fallback: 30,
    min: 0.01,
    max: 10_080,
  }),
  page: freePortOption(
    "--page",
    "A page where you watch agents and step in.",
    "Serve a page on this port of 127.0.0.1 where you watch the agents and step in; --page alone means any free port. Standard error has the address, whose token lets nobody else in. For the command page: the port.",
  ),
  pageReadOnly: flagOption({
    flag: "--page-read-only",
    summary: "The page only shows: it answers no question, evaluates and traces nothing, and steers no agent.",
  }),
  emacsPath: flagOption({
    flag: "--emacs-path",
    summary: "Print the folder of swank-mcp.el, for the load-path of Emacs, and exit.",
  }),
  help,
  version: flagOption({ flag: "--version", summary: "Print the version and exit." }),
} as const;

/** All options, in the order of `--help`. */
export const ALL_OPTIONS: readonly Option<unknown>[] = Object.values(OPTIONS);

const SHARED_ALREADY =
  "--share opens a port in an image that this server launches; with --attach the image already has a port, and Emacs connects to it with M-x slime-connect. Leave out one of them.";

const READ_ONLY_KEEPS_ERRORS =
  "--read-only leaves an attached image's errors to others: the agent could read a thread that stops for it, but not continue it. Leave out --foreign-errors, or write theirs.";

const CONSOLE_NEEDS_CORE = "The console needs the core tools: add core to --tools.";

/** All settings, checked and complete. */
export type Config = ReturnType<typeof readConfig>;

const FIX_IS_FOR_CHECK = "--fix is an option of check: swank-mcp check --fix FILE...";

const DRY_RUN_IS_FOR_WRITERS =
  "--dry-run is for commands that write: swank-mcp check --fix FILE..., swank-mcp setup HOST.";

const HTTP_OPTIONS: readonly Option<unknown>[] = [
  OPTIONS.port,
  OPTIONS.host,
  OPTIONS.publicUrl,
  OPTIONS.noToken,
  OPTIONS.maxClients,
  OPTIONS.sessionMinutes,
];

const PAGE_NEEDS_IMAGE =
  "page needs the port of the image's Swank: swank-mcp page --attach [HOST:]PORT. To watch the agents of a server, start that with --page.";

/** The commands that can serve a page, and the one that configures such a command. */
const SERVING: readonly Command[] = ["serve", "http", "console", "page", "setup"];

const READ_ONLY_PAGE_NEEDS_PAGE = "--page-read-only is about the page: write --page, too.";

const DRY_RUN_NEEDS_FIX = "--dry-run says what --fix would write: swank-mcp check --fix --dry-run FILE...";

/**
 * Reads the command line, and the environment for options that are not on it.
 *
 * @param args - The arguments, without the program's name.
 * @throws OptionError - its message says what to write instead.
 */
export function readConfig(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
  const { texts, words } = parse(args);
  const { command } = readCommand(words);
  const isSet = (option: Option<unknown>) => texts.has(option.flag) || fromEnvironment(option, environment).length > 0;
  const values = valuesOf(OPTIONS, (option) => {
    const given = texts.get(option.flag);
    if (given !== undefined) return option.read(given, option.flag);
    const set = fromEnvironment(option, environment);
    return option.read(set.length === 0 ? defaultsOf(option, command) : set, environmentName(option));
  });
  const { attach, share, tools, readOnly, help, fix, dryRun } = values;
  if (attach !== undefined && share !== undefined) throw new OptionError(SHARED_ALREADY);
  if (command === "console" && !tools.includes("core")) throw new OptionError(CONSOLE_NEEDS_CORE);
  const keepsErrors = readOnly && attach !== undefined;
  const foreignErrors = keepsErrors && !isSet(OPTIONS.foreignErrors) ? "theirs" : values.foreignErrors;
  if (keepsErrors && foreignErrors !== "theirs") throw new OptionError(READ_ONLY_KEEPS_ERRORS);
  if (fix && command !== "check") throw new OptionError(FIX_IS_FOR_CHECK);
  if (dryRun && command !== "check" && command !== "setup") throw new OptionError(DRY_RUN_IS_FOR_WRITERS);
  if (dryRun && command === "check" && !fix) throw new OptionError(DRY_RUN_NEEDS_FIX);
  const stray = command === "http" ? undefined : HTTP_OPTIONS.find(({ flag }) => texts.has(flag));
  if (stray !== undefined) throw new OptionError(`${stray.flag} is an option of http: swank-mcp http ${stray.flag}.`);
  const page = command === "page" ? (values.page ?? 0) : values.page;
  checkPage(
    { command, attach, page, isNamed: texts.has(OPTIONS.page.flag) },
    texts.has(OPTIONS.pageReadOnly.flag),
    help !== undefined,
  );
  const host = values.host ?? DEFAULT_HOST;
  const publicUrl = readPublicUrl(values.publicUrl);
  if (command === "http") checkReach({ host, publicUrl, noToken: values.noToken });
  return {
    ...values,
    ...readWords(words, help !== undefined),
    entryArgs: entryArgs(texts),
    host,
    publicUrl,
    foreignErrors,
    page,
  };
}

type Value<Of> = Of extends Option<infer T> ? T : never;

/** The value of each option. */
function valuesOf<Table extends Readonly<Record<string, Option<unknown>>>>(
  table: Table,
  get: (option: Option<unknown>) => unknown,
): { readonly [Key in keyof Table]: Value<Table[Key]> };
function valuesOf(table: Readonly<Record<string, Option<unknown>>>, get: (option: Option<unknown>) => unknown): object {
  return Object.fromEntries(Object.entries(table).map(([key, option]) => [key, get(option)]));
}

function defaultsOf({ inConsole }: Option<unknown>, command: Command): readonly string[] {
  return command === "console" && inConsole !== undefined ? [inConsole] : [];
}

/** The given options, as `setup` writes them into a client's configuration: a file that is named from here is named by its path. */
function entryArgs(texts: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...texts].flatMap(([flag, values]) => {
    const option = ALL_OPTIONS.find((candidate) => candidate.flag === flag);
    const isPath = option?.placeholder === "FILE" || option?.placeholder === "FOLDER";
    if (option === OPTIONS.dryRun) return [];
    return values.map((value) => {
      if (value === "") return flag;
      // A program without a folder is looked for on the PATH.
      const isRelative = isPath || (option === OPTIONS.lisp && value.includes(sep));
      return `${flag}=${isRelative ? resolve(value) : value}`;
    });
  });
}

interface Parsed {
  /** Values by flag; `""` for a flag without one. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

function parse(args: readonly string[]): Parsed {
  const texts = new Map<string, string[]>();
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === STANDARD_INPUT || !arg.startsWith("-")) {
      words.push(arg);
      continue;
    }
    const { option, text } = readFlag(arg);
    const value = text ?? (takesNext(option, args[index + 1]) ? args[++index] : undefined);
    if (value === undefined && needsValue(option))
      throw new OptionError(`${option.flag} needs a value: ${optionHead(option)}`);
    texts.set(option.flag, [...(texts.get(option.flag) ?? []), value ?? ""]);
  }
  return { texts, words };
}

function readFlag(arg: string): { option: Option<unknown>; text: string | undefined } {
  const equals = arg.indexOf("=");
  const flag = equals < 0 ? arg : arg.slice(0, equals);
  const option = ALL_OPTIONS.find((candidate) => candidate.flag === (SHORT_FLAGS.get(flag) ?? flag));
  if (option === undefined) throw new OptionError(unknownFlag(flag));
  if (equals >= 0 && option.placeholder === undefined) throw new OptionError(`${flag} takes no value.`);
  return { option, text: equals < 0 ? undefined : arg.slice(equals + 1) };
}

const SHORT_FLAGS: ReadonlyMap<string, string> = new Map([
  ["-h", "--help"],
  ["-v", "--version"],
]);

function unknownFlag(flag: string): string {
  const flags = ALL_OPTIONS.map((option) => option.flag);
  const meant = nearest(flag, flags);
  return `There is no option ${flag}${meant === undefined ? "; --help lists them." : `: did you mean ${meant}?`}`;
}

function takesNext(option: Option<unknown>, next: string | undefined): boolean {
  if (option.placeholder === undefined || next === undefined || isFlag(next)) return false;
  return option.valueOptional !== true || findCommand(next) === undefined;
}

/** A negative number is a value, which its option may refuse, and not a flag. */
function isFlag(arg: string): boolean {
  return arg.startsWith("-") && !/^-\.?\d/.test(arg);
}

function needsValue(option: Option<unknown>): boolean {
  return option.placeholder !== undefined && option.valueOptional !== true;
}

interface PageSettings {
  readonly command: Command;
  readonly attach: ImageAddress | undefined;
  readonly page: number | undefined;
  readonly isNamed: boolean;
}

/** @throws OptionError - if there is nothing that the page could show. */
function checkPage({ command, attach, page, isNamed }: PageSettings, onlyShows: boolean, isHelp: boolean): void {
  if (command === "page" && attach === undefined && !isHelp) throw new OptionError(PAGE_NEEDS_IMAGE);
  if (isNamed && !SERVING.includes(command))
    throw new OptionError(`--page is no option of ${command}, which serves nobody.`);
  if (onlyShows && page === undefined) throw new OptionError(READ_ONLY_PAGE_NEEDS_PAGE);
}

function readPublicUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.hash === "" &&
    url.username === ""
  )
    return url;
  throw new OptionError(`--public-url takes a URL such as https://lisp.example, not ${JSON.stringify(text)}.`);
}

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

interface Reach {
  readonly host: string;
  readonly publicUrl: URL | undefined;
  readonly noToken: boolean;
}

/** @throws OptionError - if clients could not be told from strangers. */
function checkReach({ host, publicUrl, noToken }: Reach): void {
  if (noToken && !(isLoopback(host) && publicUrl === undefined))
    throw new OptionError(
      "--no-token lets everybody who reaches the server run code as you, so it needs an address of this machine only: leave out --host and --public-url.",
    );
  if (!isLoopback(host) && publicUrl === undefined)
    throw new OptionError(
      `--host ${host} needs --public-url, the address that clients use: requests that name another host are refused.`,
    );
}

/** Reads an option's environment variable. An empty variable counts as not set; lists are separated as in `PATH`. */
function fromEnvironment(
  option: Option<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const text = environment[environmentName(option)];
  if (text === undefined || text === "") return [];
  return option === OPTIONS.load ? text.split(delimiter).filter((part) => part !== "") : [text];
}

/** How to reach a Swank that listens only on its own machine. */
export function tunnelTo({ host, port }: ImageAddress): string {
  return `forward its port, ssh -N -L ${port}:127.0.0.1:${port} ${host}, and start swank-mcp with --attach ${port}`;
}
