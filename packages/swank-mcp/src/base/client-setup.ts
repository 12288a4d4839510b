import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { shellWord } from "../text/cut.js";
import { HOSTS, type HostName } from "./commands.js";

export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** How a client is told about the server. */
export interface ClientHost {
  readonly title: string;
  /** The client's own command for it; absent if it has none. */
  readonly line?: (entry: ServerEntry) => string;
  /** The key under which its configuration has the servers. */
  readonly key: "mcpServers" | "servers" | "mcp_servers";
  readonly isTyped: boolean;
}

/** The clients that `setup` knows, in the order of the instructions. */
export const CLIENT_HOSTS: Readonly<Record<HostName, ClientHost>> = {
  claude: {
    title: "Claude Code",
    line: (entry) => `claude mcp add swank -- ${words(entry)}`,
    key: "mcpServers",
    isTyped: true,
  },
  codex: {
    title: "Codex",
    line: (entry) => `codex mcp add swank -- ${words(entry)}`,
    key: "mcp_servers",
    isTyped: false,
  },
  gemini: {
    title: "Gemini CLI",
    line: (entry) => `gemini mcp add swank ${words(entry)}`,
    key: "mcpServers",
    isTyped: false,
  },
  vscode: {
    title: "VS Code",
    line: (entry) => `code --add-mcp ${shellWord(JSON.stringify({ name: "swank", ...plain(entry) }))}`,
    key: "servers",
    isTyped: true,
  },
  cursor: { title: "Cursor", key: "mcpServers", isTyped: false },
  "claude-desktop": { title: "Claude Desktop", key: "mcpServers", isTyped: false },
};

function words({ command, args }: ServerEntry): string {
  return [command, ...args].map(shellWord).join(" ");
}

/** An entry as configurations have it: without arguments if there are none. */
export function plain({ command, args }: ServerEntry): { readonly command: string; readonly args?: readonly string[] } {
  return args.length === 0 ? { command } : { command, args };
}

/** Instructions for adding this server to MCP clients. @param bin - Absolute path of the `swank-mcp` program. */
export function clientSetup(bin: string): string {
  const entry = { command: bin, args: [] };
  const hosts = HOSTS.map((name) => CLIENT_HOSTS[name]);
  const width = Math.max(...hosts.map(({ title }) => title.length));
  const lines = hosts.map(({ title, line, key }) => {
    const how = line?.(entry) ?? JSON.stringify({ [key]: { swank: plain(entry) } });
    return `  ${title.padEnd(width)}  ${how}`;
  });
  return `Add this server to an MCP client (add the arguments --attach PORT to use the image of your Emacs):

${lines.join("\n")}

This writes the configuration itself, with the options that it is given; --dry-run only shows it:

  ${shellWord(bin)} setup ${HOSTS.join("|")}
`;
}

/** Instructions for adding an HTTP server to MCP clients. @param token - `undefined` if the server needs none. */
export function httpClientSetup(url: string, token: string | undefined): string {
  const value = `Bearer ${token}`;
  const headers = token === undefined ? {} : { headers: { Authorization: value } };
  const header = token === undefined ? "" : ` --header ${shellWord(`Authorization: ${value}`)}`;
  const variable = token === undefined ? "" : " --bearer-token-env-var SWANK_MCP_TOKEN";
  const entry = { type: "http", url, ...headers };
  return `  Claude Code  claude mcp add --transport http swank ${url}${header}
  Codex        codex mcp add swank --url ${url}${variable}
  VS Code      code --add-mcp ${shellWord(JSON.stringify({ name: "swank", ...entry }))}
  others       ${JSON.stringify({ mcpServers: { swank: entry } })}
`;
}

const NAME = "swank-mcp";

/** The parts of a process that show how it was started. */
interface Started {
  readonly program: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * A command that starts this program with `words` where it was started now: through npm in a clone, by name if it is on the PATH, and
 * otherwise by its path.
 */
export function ownCommand(words: string, { program = NAME, environment }: Started): string {
  if (environment["npm_lifecycle_event"] === "start") return `npm start -- ${words}`;
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  if (folders.some((folder) => isExecutable(join(folder, NAME)))) return `${NAME} ${words}`;
  const path = resolve(program);
  return `${isExecutable(path) ? "" : "node "}${shellWord(path)} ${words}`;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
