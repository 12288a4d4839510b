import { code, GENERATED, prose, table } from "./markdown.mjs";

/** @typedef {{ flag: string, placeholder?: string, valueOptional?: boolean, summary: string, fallback?: string | undefined }} Option */

/**
 * docs/options.md: every option of swank-mcp, from the table that it reads its command line with. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function optionsPage() {
  const { ALL_OPTIONS } = await import("../../packages/swank-mcp/dist/options.js");
  const { environmentName, fallbackText } = await import("../../packages/swank-mcp/dist/option.js");
  const rows = ALL_OPTIONS.map((option) =>
    optionRow({ ...option, fallback: fallbackText(option) }, environmentName(option)),
  );
  return [
    GENERATED,
    "# Options of swank-mcp",
    "An option on the command line counts before its environment variable. An empty variable counts as not set.",
    table(["option", "environment", "what it does", "default"], rows),
  ].join("\n\n");
}

/**
 * @param {Option} option
 * @param {string} variable the environment variable's name
 */
export function optionRow({ flag, placeholder, valueOptional = false, summary, fallback = "" }, variable) {
  const value = valueOptional ? `[${placeholder}]` : placeholder;
  return [code(value === undefined ? flag : `${flag} ${value}`), code(variable), prose(summary), prose(fallback)];
}
