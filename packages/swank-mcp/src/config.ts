import { delimiter } from "node:path";
import { nearest } from "./nearest.js";
import { environmentName, type Option, OptionError } from "./option.js";
import { ALL_OPTIONS, OPTIONS } from "./options.js";

const SHARED_ALREADY =
  "--share opens a port in an image that this server launches; with --attach the image is somebody's already, and Emacs connects to the same port with M-x slime-connect. Leave out one of them.";

/** What the program does when started. */
export type Command = "serve" | "console";

/** Everything that can be set, checked and complete. */
export type Config = ReturnType<typeof readConfig>;

const COMMANDS = ["serve", "console"] as const;

/**
 * Reads the command line, and the environment for what it does not say.
 *
 * @param args - Without the program's own name.
 * @throws OptionError - with a message that says what to write instead.
 */
export function readConfig(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
  const { texts, words } = parse(args);
  const command = readCommand(words);
  const get = <T>(option: Option<T>): T => {
    const given = texts.get(option.flag);
    if (given !== undefined) return option.read(given, option.flag);
    const set = fromEnvironment(option, environment);
    return option.read(set.length === 0 ? defaultsOf(option, command) : set, environmentName(option));
  };
  const attach = get(OPTIONS.attach);
  const share = get(OPTIONS.share);
  if (attach !== undefined && share !== undefined) throw new OptionError(SHARED_ALREADY);
  return {
    command,
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
    foreignErrors: get(OPTIONS.foreignErrors),
    maxStops: get(OPTIONS.maxStops),
    stopMinutes: get(OPTIONS.stopMinutes),
    maxOutput: get(OPTIONS.maxOutput),
    maxValue: get(OPTIONS.maxValue),
    logFile: get(OPTIONS.logFile),
    verbose: get(OPTIONS.verbose),
    help: get(OPTIONS.help),
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
    if (!arg.startsWith("-")) {
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

/** A negative number is a value, and one that its option can refuse. */
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

function readCommand(words: readonly string[]): Command {
  const [word = "serve", extra] = words;
  const command = findCommand(word);
  if (command === undefined) {
    const meant = nearest(word, COMMANDS);
    throw new OptionError(
      `There is no command ${JSON.stringify(word)}${meant === undefined ? "; --help tells what there is." : `: did you mean ${meant}?`}`,
    );
  }
  if (extra !== undefined)
    throw new OptionError(`What is ${JSON.stringify(extra)} for? Only one command can be given.`);
  return command;
}

/** An empty variable counts as not set; lists are separated as in `PATH`. */
function fromEnvironment(
  option: Option<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const text = environment[environmentName(option)];
  if (text === undefined || text === "") return [];
  return option === OPTIONS.load ? text.split(delimiter).filter((part) => part !== "") : [text];
}
