import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { shellWord } from "../text/cut.js";

/** The entry for this server in most clients' JSON settings. */
function jsonSettings(bin: string): string {
  return JSON.stringify({ mcpServers: { swank: { command: bin } } });
}

/**
 * Instructions for adding this server to MCP clients.
 *
 * @param bin - Absolute path of the `swank-mcp` program.
 */
export function clientSetup(bin: string): string {
  const word = shellWord(bin);
  return `Add this server to an MCP client (add the arguments --attach PORT to use the image of your Emacs):

  Claude Code     claude mcp add swank -- ${word}
  Codex           codex mcp add swank -- ${word}
  VS Code         code --add-mcp ${shellWord(JSON.stringify({ name: "swank", command: bin }))}
  Gemini CLI      gemini mcp add swank ${word}
  Claude Desktop  claude_desktop_config.json:  ${jsonSettings(bin)}
  Cursor          ~/.cursor/mcp.json:          ${jsonSettings(bin)}
`;
}

/**
 * Instructions for adding an HTTP server to MCP clients.
 *
 * @param token - `undefined` if the server needs none.
 */
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
  /** Path of the running program. */
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
