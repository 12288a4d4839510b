/** What was typed after a command's name. */
export interface CommandInput {
  /** Lisp forms, each as it was typed: numbers, names, expressions. */
  readonly words: readonly string[];
  /** Everything after the first of them. */
  readonly rest: string;
  /** The package that the session is in, once there is one. */
  readonly packageName: string | undefined;
}

interface Described {
  /** Without the comma. */
  readonly name: string;
  /** What may follow the name; what need not, in brackets. */
  readonly usage: string;
  /** A sentence. */
  readonly summary: string;
}

/** A command that calls a tool. */
export interface ToolCommand extends Described {
  readonly kind: "tool";
  readonly tool: string;
  /** It is about one stop: `,thread` tells which. */
  readonly ofStop: boolean;
  /** The tool's arguments; whether they make sense is for the tool to say. */
  args(input: CommandInput): Readonly<Record<string, unknown>>;
}

/** A command about the console itself. */
export interface OwnCommand extends Described {
  readonly kind: "own";
  readonly does: "choose-thread" | "setup" | "help" | "quit";
}

export type ConsoleCommand = ToolCommand | OwnCommand;

type Arguments = ToolCommand["args"];

const NONE: Arguments = () => ({});

function tool(name: string, usage: string, toolName: string, summary: string, args = NONE): ToolCommand {
  return { kind: "tool", name, usage, summary, tool: toolName, ofStop: false, args };
}

function ofStop(name: string, usage: string, toolName: string, summary: string, args = NONE): ToolCommand {
  return { ...tool(name, usage, toolName, summary, args), ofStop: true };
}

function own(name: string, usage: string, does: OwnCommand["does"], summary: string): OwnCommand {
  return { kind: "own", name, usage, does, summary };
}

/** What is no number is the tool's to refuse. */
function integer(word: string | undefined): number | string | undefined {
  return word !== undefined && /^-?\d+$/.test(word) ? Number(word) : word;
}

/** Every command, in the order in which `,help` lists them. */
export const COMMANDS: readonly ConsoleCommand[] = [
  tool("error", "", "describe-last-error", "The last error again, with its restarts."),
  tool("backtrace", "[n]", "get-backtrace", "The stack of the last error, n frames of it.", ({ words: [n] }) => ({
    "max-frames": integer(n),
  })),
  ofStop(
    "frames",
    "[start [end]]",
    "debugger_frames",
    "Frames with sources and variables.",
    ({ words: [start, end] }) => ({
      start: integer(start),
      end: integer(end),
    }),
  ),
  ofStop("locals", "n", "debugger_frame_locals", "The variables of frame n.", ({ words: [n] }) => ({
    frame: integer(n),
  })),
  ofStop(
    "in",
    "n form ...",
    "debugger_eval_in_frame",
    "Evaluate with the variables of frame n.",
    ({ words: [n], rest }) => ({
      frame: integer(n),
      code: rest,
    }),
  ),
  ofStop("restarts", "", "debugger_restarts", "The ways out of the stop."),
  ofStop(
    "restart",
    "n|NAME [value ...]",
    "debugger_invoke_restart",
    "Leave the stop by one; values are expressions.",
    ({ words: [restart, ...values] }) => ({ restart: integer(restart), values }),
  ),
  ofStop("abort", "", "debugger_invoke_restart", "Give up the stopped evaluation.", () => ({ restart: "ABORT" })),
  ofStop("continue", "", "debugger_continue", "Go on as if it had not stopped."),
  ofStop("into", "", "debugger_step", "Step into the next call.", () => ({ mode: "into" })),
  ofStop("over", "", "debugger_step", "Step over it.", () => ({ mode: "over" })),
  ofStop("out", "", "debugger_step", "Step out of the function.", () => ({ mode: "out" })),
  tool(
    "break",
    "function [condition]",
    "breakpoint_set",
    "Stop at calls of a function.",
    ({ words: [name, condition] }) => ({
      function: name,
      condition,
    }),
  ),
  tool("breakpoints", "", "breakpoint_list", "The breakpoints."),
  tool("unbreak", "id", "breakpoint_remove", "Remove a breakpoint.", ({ words: [id] }) => ({ id: integer(id) })),
  own("thread", "id", "choose-thread", "Which stopped thread the commands are about."),
  tool("describe", "name", "describe-symbol", "What a name means.", ({ words: [name], packageName }) => ({
    name,
    package: packageName,
  })),
  tool("definitions", "[type]", "list-definitions", "What has been defined here.", ({ words: [type] }) => ({ type })),
  tool("status", "", "lisp-status", "Which Lisp this is, and what is stopped."),
  tool("reset", "", "reset-session", "Begin anew."),
  own("setup", "", "setup", "How to add the server to an MCP client."),
  own("help", "", "help", "This list."),
  own("quit", "", "quit", "Leave, as Ctrl-D does."),
];

/** A command as one types it. */
export function usageText({ name, usage }: ConsoleCommand): string {
  return usage === "" ? `,${name}` : `,${name} ${usage}`;
}

/** Whether so many words can follow the command. */
export function takesWords({ usage }: ConsoleCommand, count: number): boolean {
  const places = usage.split(" ").filter((place) => /^\[?[^.]/.test(place));
  const needed = places.filter((place) => !place.startsWith("["));
  return count >= needed.length && (count <= places.length || usage.includes("..."));
}
