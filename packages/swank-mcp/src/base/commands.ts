import { nearest } from "../text/cut.js";
import { OptionError } from "./option.js";

/** What the program does, with its usage and a line of help. */
const COMMANDS = {
  serve: { usage: "", brief: "MCP server on standard input and output" },
  http: { usage: "http", brief: "MCP server over HTTP, for several clients" },
  console: { usage: "console", brief: "a prompt in this terminal, with the same tools" },
  page: { usage: "page", brief: "a page for you beside an image: --attach PORT" },
  setup: { usage: "setup HOST", brief: "adds the server to a client" },
  doctor: { usage: "doctor", brief: "finds what is missing, and how to mend it" },
  check: { usage: "check FILE...", brief: "finds unbalanced parentheses without a Lisp" },
  token: { usage: "token add NAME", brief: "makes a token for HTTP; also: list, remove" },
} as const;

export type Command = keyof typeof COMMANDS;

/** The usage of each command, and what it does. */
export const USAGES: readonly (readonly [usage: string, brief: string])[] = Object.values(COMMANDS).map(
  ({ usage, brief }) => [`swank-mcp ${usage}`.trimEnd(), brief],
);

const NAMES = Object.keys(COMMANDS);

export function findCommand(word: string): Command | undefined {
  return isCommand(word) ? word : undefined;
}

function isCommand(word: string): word is Command {
  return Object.hasOwn(COMMANDS, word);
}

/** The clients that `setup` knows. */
export const HOSTS = ["claude", "codex", "gemini", "vscode", "cursor", "claude-desktop"] as const;

export type HostName = (typeof HOSTS)[number];

const HOST_USE = `setup needs a client: swank-mcp setup ${HOSTS.join("|")}.`;

/** Stands for standard input among the files to check. */
export const STANDARD_INPUT = "-";

const CHECK_NEEDS_FILES = "check needs files: swank-mcp check FILE..., where - means standard input.";

export type TokenAction =
  | { readonly kind: "add"; readonly name: string }
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "list" };

/** Names of tokens, which other clients see and the log has. */
const TOKEN_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

const TOKEN_USE =
  "token needs what to do: swank-mcp token add NAME, swank-mcp token list, or swank-mcp token remove NAME.";

function readTokenAction([kind, name, ...rest]: readonly string[]): TokenAction {
  if (kind === "list" && name === undefined) return { kind };
  if ((kind !== "add" && kind !== "remove") || name === undefined || rest.length > 0) throw new OptionError(TOKEN_USE);
  if (!TOKEN_NAME.test(name))
    throw new OptionError(
      `A token's name has 1 to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit, unlike ${JSON.stringify(name)}.`,
    );
  return { kind, name };
}

function readHost([name, ...rest]: readonly string[]): HostName {
  const host = HOSTS.find((candidate) => candidate === name);
  if (host !== undefined && rest.length === 0) return host;
  const meant = host === undefined && name !== undefined ? nearest(name, HOSTS) : undefined;
  throw new OptionError(meant === undefined ? HOST_USE : `${HOST_USE} Did you mean ${meant}?`);
}

/** The command that the first word names. @throws OptionError */
export function readCommand([word = "serve", ...rest]: readonly string[]): {
  readonly command: Command;
  readonly rest: readonly string[];
} {
  const command = findCommand(word);
  if (command === undefined) {
    const meant = nearest(word, NAMES);
    throw new OptionError(
      `There is no command ${JSON.stringify(word)}${meant === undefined ? "; --help lists the commands." : `: did you mean ${meant}?`}`,
    );
  }
  return { command, rest };
}

/** The words of the command line that are no options. */
export interface Words {
  readonly command: Command;
  readonly files: readonly string[];
  /** What `token` does; absent for other commands. */
  readonly tokenAction: TokenAction | undefined;
  /** The client that `setup` sets up; absent for other commands. */
  readonly setupHost: HostName | undefined;
}

/** @param isHelp - Only help is asked for, so no word is missing. @throws OptionError */
export function readWords(words: readonly string[], isHelp: boolean): Words {
  const { command, rest } = readCommand(words);
  const none = { command, files: [], tokenAction: undefined, setupHost: undefined };
  if (isHelp) return none;
  if (command === "token") return { ...none, tokenAction: readTokenAction(rest) };
  if (command === "setup") return { ...none, setupHost: readHost(rest) };
  if (command === "check") {
    if (rest.length === 0) throw new OptionError(CHECK_NEEDS_FILES);
    return { ...none, files: rest };
  }
  const [extra] = rest;
  if (extra !== undefined)
    throw new OptionError(`Unexpected argument ${JSON.stringify(extra)}: only one command is allowed.`);
  return none;
}
