import { code, GENERATED, prose, table } from "./markdown.mjs";

/** @typedef {{ flag: string, placeholder?: string, valueOptional?: boolean, summary: string, fallback?: string | undefined }} Option */

/**
 * Returns docs/options.md: every option of swank-mcp, from the table that parses its command line. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function optionsPage() {
  const { ALL_OPTIONS } = await import("../../packages/swank-mcp/dist/base/config.js");
  const { environmentName, fallbackText } = await import("../../packages/swank-mcp/dist/base/config.js");
  const rows = ALL_OPTIONS.map((option) =>
    optionRow({ ...option, fallback: fallbackText(option) }, environmentName(option)),
  );
  return [
    GENERATED,
    "# Options of swank-mcp",
    "Command-line options override environment variables. An empty variable counts as unset.",
    table(["option", "environment", "what it does", "default"], rows),
  ].join("\n\n");
}

/**
 * @param {Option} option
 * @param {string} variable name of the environment variable
 */
export function optionRow({ flag, placeholder, valueOptional = false, summary, fallback = "" }, variable) {
  const value = valueOptional ? `[${placeholder}]` : placeholder;
  return [code(value === undefined ? flag : `${flag} ${value}`), code(variable), prose(summary), prose(fallback)];
}
