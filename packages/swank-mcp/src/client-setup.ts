/** Servers as most clients' JSON settings list them. */
function jsonSettings(bin: string): string {
  return JSON.stringify({ mcpServers: { swank: { command: bin } } });
}

/** A word as a POSIX shell reads it. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * How to add this server to each MCP client.
 *
 * @param bin - Absolute path of the `swank-mcp` program.
 */
export function clientSetup(bin: string): string {
  const word = shellWord(bin);
  return `Add this server to an MCP client (with the arguments --attach PORT, to use the image that is open in your Emacs):

  Claude Code     claude mcp add swank -- ${word}
  Codex           codex mcp add swank -- ${word}
  VS Code         code --add-mcp ${shellWord(JSON.stringify({ name: "swank", command: bin }))}
  Gemini CLI      gemini mcp add swank ${word}
  Claude Desktop  claude_desktop_config.json:  ${jsonSettings(bin)}
  Cursor          ~/.cursor/mcp.json:          ${jsonSettings(bin)}
`;
}
