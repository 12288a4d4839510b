/** What was found of one thing. */
export interface Finding {
  readonly subject: string;
  /** `missing`: the server cannot run without it. `wrong`: something does not work as it should. `note`: nothing to do. */
  readonly state: "ok" | "note" | "wrong" | "missing";
  readonly text: string;
  /** The line that mends it, such as a command. */
  readonly mend?: string | undefined;
}

const STATES = { ok: "ok", note: "-", wrong: "WRONG", missing: "MISSING" } as const;

/** Columns before the text. */
const HEAD = 8;

/** A finding as lines of the report. */
export function findingText({ subject, state, text, mend }: Finding): string {
  const [first = "", ...rest] = text.split("\n");
  const lines = [`${STATES[state].padEnd(HEAD)}${subject}: ${first}`, ...rest.map((line) => " ".repeat(HEAD) + line)];
  return [...lines, ...(mend === undefined ? [] : [`${" ".repeat(HEAD)}mend: ${mend}`])].join("\n");
}

/** Hides what a report must not tell: the user's home folder, which has the user's name. A shell understands what takes its place. */
export function withoutHome(text: string, homes: readonly string[]): string {
  return homes
    .map((home) => home.replace(/\/+$/, ""))
    .filter((home) => home !== "")
    .flatMap((home) => [home, home.replaceAll("'", "'\\''")])
    .sort((left, right) => right.length - left.length)
    .map((home) => new RegExp(`('?)${home.replace(/[^\w/]/g, "\\$&")}(?![\\w-])(/?)`, "g"))
    .reduce((shown, home) => shown.replace(home, (_, quote: string, slash: string) => `~${slash}${quote}`), text);
}

/** Managers of packages, each with the words by which the lines of a remedy begin its command. */
const MANAGERS = ["apt-get", "dnf", "pacman", "brew"] as const;

/**
 * The line of a remedy that fits this machine. A remedy lists a command for each system.
 *
 * @param hasProgram - Whether a program is installed.
 */
export function fittingLine(remedy: string, hasProgram: (name: string) => boolean): string {
  const commands = remedy.split("\n").flatMap((line) => /^ {2}[^:]+: +(.*)$/.exec(line)?.[1] ?? []);
  const manager = MANAGERS.find((name) => hasProgram(name) && commands.some((command) => command.includes(`${name} `)));
  const fitting = commands.find((command) => manager !== undefined && command.includes(`${manager} `));
  return fitting ?? commands.at(-1) ?? remedy.split("\n")[0] ?? remedy;
}
