import { delimiter } from "node:path";
import { nearest } from "../text/nearest.js";
import { environmentName, type Option, OptionError } from "./option.js";
import { ALL_OPTIONS, OPTIONS } from "./options.js";

const SHARED_ALREADY =
  "--share opens a port in an image that this server launches; with --attach the image already has a port, and Emacs connects to it with M-x slime-connect. Leave out one of them.";

const READ_ONLY_KEEPS_ERRORS =
  "--read-only leaves an attached image's errors to others: the agent could read a thread that stops for it, but not continue it. Leave out --foreign-errors, or write theirs.";

const CONSOLE_NEEDS_CORE = "The console needs the core tools: add core to --tools.";

/** Stands for standard input among the files to check. */
export const STANDARD_INPUT = "-";

/** The command of the program. */
export type Command = "serve" | "console" | "check";

/** All settings, checked and complete. */
export type Config = ReturnType<typeof readConfig>;

const COMMANDS = ["serve", "console", "check"] as const;

const CHECK_NEEDS_FILES = "check needs files: swank-mcp check FILE..., where - means standard input.";

/**
 * Reads the command line, and the environment for options that are not on it.
 *
 * @param args - The arguments, without the program's name.
 * @throws OptionError - its message says what to write instead.
 */
export function readConfig(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
  const { texts, words } = parse(args);
  const { command, files } = readCommand(words);
  const isSet = (option: Option<unknown>) => texts.has(option.flag) || fromEnvironment(option, environment).length > 0;
  const get = <T>(option: Option<T>): T => {
    const given = texts.get(option.flag);
    if (given !== undefined) return option.read(given, option.flag);
    const set = fromEnvironment(option, environment);
    return option.read(set.length === 0 ? defaultsOf(option, command) : set, environmentName(option));
  };
  const attach = get(OPTIONS.attach);
  const share = get(OPTIONS.share);
  if (attach !== undefined && share !== undefined) throw new OptionError(SHARED_ALREADY);
  const tools = get(OPTIONS.tools);
  if (command === "console" && !tools.includes("core")) throw new OptionError(CONSOLE_NEEDS_CORE);
  const readOnly = get(OPTIONS.readOnly);
  const keepsErrors = readOnly && attach !== undefined;
  const foreignErrors = keepsErrors && !isSet(OPTIONS.foreignErrors) ? "theirs" : get(OPTIONS.foreignErrors);
  if (keepsErrors && foreignErrors !== "theirs") throw new OptionError(READ_ONLY_KEEPS_ERRORS);
  const help = get(OPTIONS.help);
  if (command === "check" && files.length === 0 && !help) throw new OptionError(CHECK_NEEDS_FILES);
  return {
    command,
    files,
    attach,
    share,
    secretFile: get(OPTIONS.secretFile),
    noSecret: get(OPTIONS.noSecret),
    lisp: get(OPTIONS.lisp),
    swank: get(OPTIONS.swank),
    load: get(OPTIONS.load),
    noUserInit: get(OPTIONS.noUserInit),
    cacheDir: get(OPTIONS.cacheDir),
    dynamicSpaceSize: get(OPTIONS.dynamicSpaceSize),
    noCore: get(OPTIONS.noCore),
    timeout: get(OPTIONS.timeout),
    onError: get(OPTIONS.onError),
    policy: get(OPTIONS.policy),
    approval: get(OPTIONS.approval),
    readOnly,
    foreignErrors,
    maxStops: get(OPTIONS.maxStops),
    stopMinutes: get(OPTIONS.stopMinutes),
    maxOutput: get(OPTIONS.maxOutput),
    maxValue: get(OPTIONS.maxValue),
    logFile: get(OPTIONS.logFile),
    ledger: get(OPTIONS.ledger),
    verbose: get(OPTIONS.verbose),
    tools,
    emacsPath: get(OPTIONS.emacsPath),
    help,
    version: get(OPTIONS.version),
  };
}

function defaultsOf({ inConsole }: Option<unknown>, command: Command): readonly string[] {
  return command === "console" && inConsole !== undefined ? [inConsole] : [];
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
      throw new OptionError(`${option.flag} needs a value: ${usage(option)}`);
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

function findCommand(word: string): Command | undefined {
  return COMMANDS.find((candidate) => candidate === word);
}

function needsValue(option: Option<unknown>): boolean {
  return option.placeholder !== undefined && option.valueOptional !== true;
}

function usage(option: Option<unknown>): string {
  return `${option.flag} ${option.placeholder}`;
}

/** The command, and the files that `check` checks. */
function readCommand([word = "serve", ...rest]: readonly string[]): {
  readonly command: Command;
  readonly files: readonly string[];
} {
  const command = findCommand(word);
  if (command === undefined) {
    const meant = nearest(word, COMMANDS);
    throw new OptionError(
      `There is no command ${JSON.stringify(word)}${meant === undefined ? "; --help lists the commands." : `: did you mean ${meant}?`}`,
    );
  }
  const [extra] = rest;
  if (command !== "check" && extra !== undefined)
    throw new OptionError(`Unexpected argument ${JSON.stringify(extra)}: only one command is allowed.`);
  return { command, files: rest };
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
