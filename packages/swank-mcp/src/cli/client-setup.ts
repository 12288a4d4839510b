import { shellWord } from "../text/shell-word.js";

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
