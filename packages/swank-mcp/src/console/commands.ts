import type { ToolGuide } from "../base/answer.js";

/** The text typed after a command's name. */
export interface CommandInput {
  /** Lisp forms as typed: numbers, names, expressions. A command that takes text has the rest of the line as its only word. */
  readonly words: readonly string[];
  readonly rest: string;
  /** The session's current package; `undefined` while there is no session. */
  readonly packageName: string | undefined;
}

interface Described {
  readonly name: string;
  /** The words after the name; optional words are in brackets. */
  readonly usage: string;
  readonly summary: string;
}

export interface ToolCommand extends Described {
  readonly kind: "tool";
  readonly tool: string;
  /** Whether the command acts on a stop, which `,thread` chooses. */
  readonly ofStop: boolean;
  /** Whether the rest of the line is one text, such as the name of a file, and not Lisp forms. */
  readonly takesText: boolean;
  /** The tool's arguments; the tool checks them. */
  args(input: CommandInput): Arguments;
}

export interface OwnCommand extends Described {
  readonly kind: "own";
  readonly does: "choose-thread" | "live" | "setup" | "help" | "quit";
}

export type ConsoleCommand = ToolCommand | OwnCommand;

type Arguments = Readonly<Record<string, unknown>>;

type ReadArguments = ToolCommand["args"];

/** Reads the words as arguments of these names. The argument `package` is the session's package. */
function named(...names: readonly string[]): ReadArguments {
  return ({ words, packageName }) =>
    Object.fromEntries(names.map((name, index) => [name, name === "package" ? packageName : words[index]]));
}

/** A name with the end of a file's name is a file. */
const loaded: ReadArguments = ({ words: [name = ""] }) => (/\.[a-z]+$/i.test(name) ? { file: name } : { system: name });

/** A number alone is a time to watch the program, and anything else code to run. */
function watched(text: string): Arguments {
  return /^\d+(?:\.\d+)?$/.test(text) ? { seconds: Number(text) } : { code: text };
}

/** A name that ends with a colon is that of a package. What is watched follows. */
const calls: ReadArguments = ({ words: [name = "", ...others] }) => ({
  ...(name.endsWith(":") && name.length > 1 ? { package: name.replace(/:+$/, "") } : { functions: [name] }),
  ...watched(others.join(" ")),
});

/** `growth` may be followed by code, `path` by code for an object, `release` by an id; a number is an id, and any other word a type. */
const heap: ReadArguments = ({ words: [word, ...others] }) => {
  const rest = others.join(" ");
  if (word === undefined) return { mode: "summary" };
  if (word === "growth") return { mode: "growth", code: rest === "" ? undefined : rest };
  if (word === "path") return { mode: "path", object: rest };
  if (word === "release") return { mode: "release", object: rest === "" ? undefined : rest };
  return /^#?\d+$/.test(word) ? { mode: "path", object: word } : { mode: "instances", type: word };
};

function tool(name: string, usage: string, toolName: string, summary: string, args = named()): ToolCommand {
  return { kind: "tool", name, usage, summary, tool: toolName, ofStop: false, takesText: false, args };
}

/** A command whose argument is text: spaces, quotes and parentheses in it mean themselves. */
function ofText(name: string, usage: string, toolName: string, summary: string, args: ReadArguments): ToolCommand {
  return { ...tool(name, usage, toolName, summary, args), takesText: true };
}

function ofStop(name: string, usage: string, toolName: string, summary: string, args = named()): ToolCommand {
  return { ...tool(name, usage, toolName, summary, args), ofStop: true };
}

function own(name: string, usage: string, does: OwnCommand["does"], summary: string): OwnCommand {
  return { kind: "own", name, usage, does, summary };
}

/** Every command, in the order of `,help`. */
export const COMMANDS: readonly ConsoleCommand[] = [
  tool("error", "", "describe-last-error", "Show the last error with its restarts."),
  tool("backtrace", "[n]", "get-backtrace", "Show the last error's stack, n frames.", named("max-frames")),
  ofStop(
    "frames",
    "[start [end]]",
    "debugger_frames",
    "Show frames with sources and variables.",
    named("start", "end"),
  ),
  ofStop("locals", "n", "debugger_frame_locals", "Show the variables of frame n.", named("frame")),
  ofStop("in", "n form ...", "debugger_eval_in_frame", "Evaluate in the environment of frame n.", (input) => ({
    frame: input.words[0],
    code: input.rest,
  })),
  ofStop("restarts", "", "debugger_restarts", "List the restarts of the stop."),
  ofStop(
    "restart",
    "n|NAME [value ...]",
    "debugger_invoke_restart",
    "Invoke a restart; values are expressions.",
    ({ words: [restart, ...values] }) => ({ restart, values }),
  ),
  ofStop("abort", "", "debugger_invoke_restart", "Abort the stopped evaluation.", () => ({ restart: "ABORT" })),
  ofStop("continue", "", "debugger_continue", "Continue as if it had not stopped."),
  ofStop("into", "", "debugger_step", "Step into the next call.", () => ({ mode: "into" })),
  ofStop("over", "", "debugger_step", "Step over the next call.", () => ({ mode: "over" })),
  ofStop("out", "", "debugger_step", "Step out of the function.", () => ({ mode: "out" })),
  tool(
    "break",
    "function [condition]",
    "breakpoint_set",
    "Stop at calls of a function.",
    named("function", "condition"),
  ),
  tool("breakpoints", "", "breakpoint_list", "List the breakpoints."),
  tool("unbreak", "id", "breakpoint_remove", "Remove a breakpoint.", named("id")),
  own("thread", "id", "choose-thread", "Choose the stopped thread for the commands."),
  tool("describe", "name", "describe-symbol", "Describe a symbol.", named("name", "package")),
  tool("source", "name", "show-source", "Show the text of a definition.", named("name", "package")),
  ofText("apropos", "text", "apropos-search", "List names that contain a text.", named("pattern")),
  ofText(
    "search",
    "text",
    "search-source",
    "Search the source of what is loaded for the rest of the line.",
    named("pattern"),
  ),
  tool("expand", "form", "macroexpand-form", "Expand the macro call that a form is.", named("code", "package")),
  ofText("changes", "[file]", "list-changes", "Compare the image with its files.", named("file")),
  tool("uses", "name [mode]", "find-references", "List callers, or another kind of references.", (input) => ({
    mode: input.words[1] ?? "callers",
    ...named("name", "package")(input),
  })),
  ofText("compile", "file", "compile-code", "Compile a file without loading it.", named("file")),
  ofText("load", "system|file", "load-system", "Compile and load a system or a file.", loaded),
  tool("test", "name", "run-tests", "Run the tests of a system, or a suite or test.", named("name")),
  ofText("update", "[file]", "load-changes", "Load what has changed in the files.", named("file")),
  tool(
    "save",
    "[name [file]]",
    "save-changes",
    "Write definitions to their files at once; ,changes shows the differences first.",
    (input) => ({ ...named("name", "file")(input), "dry-run": false }),
  ),
  tool(
    "class",
    "name [argument ...]",
    "class-info",
    "Show a class, or the methods of a generic function.",
    ({ words: [name, ...args], packageName }) => ({ name, arguments: args, package: packageName }),
  ),
  tool("threads", "[name]", "list-threads", "List the threads and what they wait for.", named("name")),
  tool(
    "interrupt",
    "id [mode]",
    "interrupt-thread",
    "Stop a running thread, or abort or kill it.",
    ({ words: [thread, mode = "stop"] }) => ({ thread, mode }),
  ),
  tool(
    "trace",
    "name form|seconds ...",
    "trace-calls",
    "Show calls of a function, or of PACKAGE: (all of it), in a form or for some seconds.",
    calls,
  ),
  tool(
    "profile",
    "form|seconds ...",
    "profile-code",
    "Profile a form, or all threads for some seconds.",
    ({ words: [word = ""], rest }) => watched(rest === "" ? word : `${word} ${rest}`),
  ),
  tool(
    "count",
    "name form|seconds ...",
    "profile-code",
    "Count calls of a function, or of PACKAGE: (all of it), in a form or for some seconds.",
    (input) => ({ ...calls(input), mode: "calls" }),
  ),
  tool("inspect", "id|code [part [start]]", "inspect-object", "Show an object and its parts.", (input) => {
    const { part, ...others } = named("object", "part", "start")(input);
    return { ...others, part: part === "." ? undefined : part };
  }),
  tool(
    "heap",
    "[growth|path|release|type|id] [form ...]",
    "heap",
    "Show what the heap contains or what grew, instances of a type, or what keeps an object alive, or release it.",
    heap,
  ),
  tool("definitions", "[type]", "list-definitions", "List this session's definitions.", named("type")),
  tool("status", "", "lisp-status", "Show the Lisp image and the stopped threads."),
  tool("reset", "", "reset-session", "Reset the session."),
  own("live", "[seconds] command|form", "live", "Show an answer again every second, or every few, until Ctrl-C."),
  own("setup", "", "setup", "Show how to add the server to an MCP client."),
  own("help", "", "help", "Show this list."),
  own("quit", "", "quit", "Leave the console, as Ctrl-D does."),
];

/** The command for each tool, for texts that name a tool. The tools of forms and steps have none, or several. */
export const TOOL_COMMANDS: ReadonlyMap<string, string> = new Map([
  ...COMMANDS.flatMap((command) => (command.kind === "tool" ? [[command.tool, `,${command.name}`] as const] : [])),
  ["debugger_invoke_restart", ",restart"],
  ["debugger_step", ",into or ,over"],
  ["evaluate-lisp", "a form"],
]);

export function offeredCommands(guide: ToolGuide): readonly ConsoleCommand[] {
  return COMMANDS.filter((command) => command.kind === "own" || guide.offers(command.tool));
}

/** The commands that are read: those that are offered, and those that --read-only refuses with the reason. */
export function knownCommands(guide: ToolGuide, withheld: readonly string[]): readonly ConsoleCommand[] {
  return COMMANDS.filter(
    (command) => command.kind === "own" || guide.offers(command.tool) || withheld.includes(command.tool),
  );
}

export function usageText({ name, usage }: ConsoleCommand): string {
  return usage === "" ? `,${name}` : `,${name} ${usage}`;
}

/** How a command is used, and what for: two sentences. Three dots end the first one as well as a full stop. */
export function usageHint(command: ConsoleCommand): string {
  const usage = usageText(command);
  return `Usage: ${usage}${usage.endsWith("...") ? "" : "."} ${command.summary}`;
}

export function takesWords({ usage }: ConsoleCommand, count: number): boolean {
  const places = usage.split(" ").filter((place) => /^\[?[^.]/.test(place));
  const needed = places.filter((place) => !place.startsWith("["));
  return count >= needed.length && (count <= places.length || usage.includes("..."));
}

const FORMS = "Type a form to evaluate it; an unfinished form continues on the next line. A comma begins a command:";

const NO_FORMS = "Nothing is evaluated (--read-only). A comma begins a command:";

const KEYS =
  "TAB completes symbols and commands. Ctrl-C pauses an evaluation in the debugger; a second Ctrl-C aborts it.";

export function commandsText(commands: readonly ConsoleCommand[] = COMMANDS, readOnly = false): string {
  const width = Math.max(...commands.map((command) => usageText(command).length)) + 2;
  const lines = commands.map((command) => `  ${usageText(command).padEnd(width)}${command.summary}`);
  return [readOnly ? NO_FORMS : FORMS, ...lines, readOnly ? "TAB completes symbols and commands." : KEYS].join("\n");
}

/** The matching names, and the part of the line that they replace. */
export type Completions = [names: string[], typed: string];

/** The end of a line that can be a symbol's prefix. */
const SYMBOL_END = /[^\s()'"`,;#]*$/;

/** Completes a line: commands after a comma at the beginning of the line, otherwise symbols from Lisp. */
export async function completionsFor(
  line: string,
  symbols: (prefix: string) => Promise<readonly string[]>,
  commands: readonly ConsoleCommand[] = COMMANDS,
): Promise<Completions> {
  const [, name] = /^\s*,(\S*)$/.exec(line) ?? [];
  if (name !== undefined) {
    const names = commands.map((command) => command.name);
    return [names.filter((candidate) => candidate.startsWith(name.toLowerCase())), name];
  }
  const typed = SYMBOL_END.exec(line)?.[0] ?? "";
  return [typed === "" ? [] : [...(await symbols(typed))], typed];
}
