import { listTools } from "../mcp/list-tools.mjs";
import { code, GENERATED, prose, table } from "./markdown.mjs";

/**
 * The fields of a tool in `tools/list` that the page shows.
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {{ properties?: Record<string, Property>, required?: string[] }} inputSchema
 * @property {Record<string, boolean>} annotations
 */

/** @typedef {{ type?: string, description?: string, default?: unknown, enum?: unknown[], minimum?: number, maximum?: number }} Property */

/**
 * Returns docs/tools.md: every tool, from the server's answer to `tools/list`. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function toolsPage() {
  const { tools } = /** @type {{ tools: Tool[] }} */ (await listTools());
  return [
    GENERATED,
    "# Tools of swank-mcp",
    "The tools as `tools/list` describes them to agents.",
    ...tools.map(toolSection),
  ].join("\n\n");
}

/** @param {Tool} tool */
export function toolSection({ name, title, description, inputSchema, annotations }) {
  const { properties = {}, required = [] } = inputSchema;
  const rows = Object.entries(properties).map(([argument, property]) => [
    code(argument),
    typeOf(property),
    required.includes(argument) ? "required" : defaultOf(property),
    prose(property.description ?? ""),
  ]);
  const hints = Object.entries(annotations).filter(([, value]) => value === true);
  return [
    `## ${name}`,
    `**${prose(title)}.** ${prose(description)}`,
    rows.length === 0 ? "No arguments." : table(["argument", "type", "default", "meaning"], rows),
    `Hints: ${hints.map(([hint]) => code(hint)).join(", ") || "none"}.`,
  ].join("\n\n");
}

/** @param {Property} property */
function typeOf({ type = "any", enum: choices, minimum, maximum }) {
  if (choices !== undefined) return choices.map((choice) => code(String(choice))).join(", ");
  const bounds = [
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
  ];
  return [type, ...bounds.filter((bound) => bound !== "")].join(", ");
}

/** @param {Property} property */
function defaultOf({ default: value }) {
  return value === undefined ? "" : code(JSON.stringify(value));
}
