import { homedir } from "node:os";
import { join, resolve, sep } from "node:path";
import { CLIENT_HOSTS, type ClientHost, type ServerEntry } from "../base/client-setup.js";
import type { HostName } from "../base/commands.js";
import { VERSION } from "../base/version.js";
import { lineDiff } from "../text/line-diff.js";
import { readConfigFile, type UntouchableFile, writeConfigFile } from "./config-file.js";
import { entryText, withEntry } from "./entry.js";

/** Exit code if the configuration was left alone. */
const LEFT_ALONE = 1;

type Environment = Readonly<Record<string, string | undefined>>;

/** The machine on which a client is set up. */
export interface Machine {
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
}

/** The file of a client's configuration for this user. */
export function configPath(host: HostName, { environment: env, platform }: Machine): string {
  const home = env["HOME"] || homedir();
  const settings =
    platform === "darwin"
      ? join(home, "Library/Application Support")
      : platform === "win32"
        ? env["APPDATA"] || join(home, "AppData/Roaming")
        : env["XDG_CONFIG_HOME"] || join(home, ".config");
  const paths: Readonly<Record<HostName, string>> = {
    claude: join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json"),
    codex: join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml"),
    gemini: join(home, ".gemini/settings.json"),
    vscode: join(settings, "Code/User/mcp.json"),
    cursor: join(home, ".cursor/mcp.json"),
    "claude-desktop": join(settings, "Claude/claude_desktop_config.json"),
  };
  return paths[host];
}

/**
 * How a client starts this program: as it was started now.
 *
 * @param program - The path of the running program.
 * @param args - Its options.
 */
export function entryOf(program: string, args: readonly string[]): ServerEntry {
  const path = resolve(program);
  // npx removes what it has fetched after a while. `npm:` names the registry: hosts start servers in folders that may hold the unbuilt package.
  if (path.split(sep).includes("_npx")) return { command: "npx", args: ["-y", `npm:swank-mcp@${VERSION}`, ...args] };
  return { command: path, args };
}

export interface SetupOptions {
  readonly host: HostName;
  readonly entry: ServerEntry;
  /** Shows what would be written, and writes nothing. */
  readonly dryRun: boolean;
  readonly machine: Machine;
}

/** What `setup` says, and its exit code. */
interface Told {
  readonly text: string;
  readonly exitCode: number;
}

/** Writes this server into a client's configuration, and says what was done. @throws OptionError */
export async function setUpHost({ host: name, entry, dryRun, machine }: SetupOptions): Promise<Told> {
  const host = CLIENT_HOSTS[name];
  const file = await readConfigFile(configPath(name, machine));
  const shown = file.path;
  if ("problem" in file) return leftAlone(file, host, entry);
  const before = file.text ?? "";
  const edited = withEntry(host, entry, before);
  if ("problem" in edited) return leftAlone({ path: shown, ...edited }, host, entry);
  if (file.text === edited.text) return { text: `${shown} has this server already.\n`, exitCode: 0 };
  if (!dryRun) await writeConfigFile(file, edited.text);
  const done = dryRun ? "would be written" : file.text === undefined ? "was made" : "was changed";
  const next = dryRun ? "" : `\nStart ${host.title} again: it then has the tools of swank.\n`;
  return { text: `${shown} ${done}:\n\n${lineDiff(before, edited.text)}\n${next}`, exitCode: 0 };
}

function leftAlone({ path, problem }: UntouchableFile, host: ClientHost, entry: ServerEntry): Told {
  const own = host.line === undefined ? "" : `, or run: ${host.line(entry)}`;
  const advice = `so nothing was changed. Add this to it yourself${own}`;
  return { text: `${path} ${problem}, ${advice}\n\n${entryText(host, entry)}`, exitCode: LEFT_ALONE };
}
