import { readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { listTools } from "../checks/sizes.mjs";
import { vscode } from "../manifests/manifests.mjs";
import { inRepository } from "../setup/paths.mjs";
import { eclSession } from "./ecl-session.mjs";
import { code, prose, table } from "./markdown.mjs";
import { matrixTables } from "./matrix.mjs";

/** The skills of swank-mcp, folders of packages/swank-mcp/skills. */
export const SKILLS = ["lisp-debugging", "lisp-development", "lisp-live-systems"];

/**
 * The parts of pages that are made from the source, by the name in `<!-- generated NAME -->`. All need the build.
 *
 * @type {Record<string, () => Promise<string>>}
 */
export const GENERATED = {
  options,
  "console-commands": consoleCommands,
  "parser-errors": async () => errors((await import("../../packages/sexp-parser/dist/errors.js")).ERRORS),
  "client-errors": async () => errors((await import("../../packages/swank-client/dist/base/errors.js")).ERROR_CODES),
  "server-errors": async () => errors((await import("../../packages/swank-mcp/dist/base/refusals.js")).REFUSALS),
  tools,
  calls,
  "ecl-session": eclSession,
  "agent-instructions": async () => `\`\`\`text\n${(await instructions()).INSTRUCTIONS}\n\`\`\``,
  "agent-skills": skillTable,
  "guidance-errors": async () => (await instructions()).GUIDANCE.errors,
  "guidance-image": async () => (await instructions()).GUIDANCE.image,
  "guidance-steps": async () => (await instructions()).GUIDANCE.steps,
  "guidance-stops": async () => (await instructions()).GUIDANCE.stops,
  vscode,
  matrix: matrixTables,
};

/** What agents are told when they connect. */
function instructions() {
  return import("../../packages/swank-mcp/dist/mcp/instructions.js");
}

/** Every skill, as its file describes it. */
async function skillTable() {
  const rows = SKILLS.map(async (name) => {
    const text = await readFile(inRepository(`packages/swank-mcp/skills/${name}/SKILL.md`), "utf8");
    const [, description = ""] = /^description: (.*)$/m.exec(text) ?? [];
    return [`[${name}](../packages/swank-mcp/skills/${name}/SKILL.md)`, prose(description)];
  });
  return table(["skill", "what it teaches"], await Promise.all(rows));
}

/** Every option of swank-mcp, from the table that parses its command line. */
async function options() {
  const { ALL_OPTIONS } = await import("../../packages/swank-mcp/dist/base/config.js");
  const { environmentName, fallbackText } = await import("../../packages/swank-mcp/dist/base/option.js");
  const rows = ALL_OPTIONS.map((option) =>
    optionRow({ ...option, fallback: fallbackText(option) }, environmentName(option)),
  );
  return table(["option", "environment", "what it does", "default"], rows);
}

/** @typedef {{ flag: string, placeholder?: string, valueOptional?: boolean, summary: string, fallback?: string | undefined }} Option */

/** @param {Option} option @param {string} variable name of the environment variable */
export function optionRow({ flag, placeholder, valueOptional = false, summary, fallback = "" }, variable) {
  const value = valueOptional ? `[${placeholder}]` : placeholder;
  return [code(value === undefined ? flag : `${flag} ${value}`), code(variable), prose(summary), prose(fallback)];
}

/** Every command of the console, from the console's own table. */
async function consoleCommands() {
  const { COMMANDS } = await import("../../packages/swank-mcp/dist/console/commands.js");
  return table(["command", "what it does", "tool"], COMMANDS.map(commandRow));
}

/** @param {{ name: string, usage: string, summary: string, tool?: string }} command */
export function commandRow({ name, usage, summary, tool }) {
  return [code(usage === "" ? `,${name}` : `,${name} ${usage}`), prose(summary), tool === undefined ? "" : code(tool)];
}

/** @param {Record<string, { meaning: string, remedy: string }>} codes */
export function errors(codes) {
  const rows = Object.entries(codes).map(([name, { meaning, remedy }]) => [code(name), prose(meaning), prose(remedy)]);
  return table(["code", "meaning", "remedy"], rows);
}

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

/** Every tool, from the server's answer to `tools/list`. */
async function tools() {
  const answer = /** @type {{ tools: Tool[] }} */ (await listTools());
  return answer.tools.map(toolSection).join("\n\n");
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

const CLIENT = "packages/swank-client/src";

/** A documented constant or row of a table. */
const DECLARATION = /\/\*\*(?<text>(?:(?!\*\/).)*)\*\/\s*(?:export const (?<constant>\w+) =|(?<row>\w+):)/gs;

/** Every table of functions of Swank, with names and docstrings. */
async function calls() {
  const subjects = Object.entries(await import("../../packages/swank-client/dist/swank/index.js"))
    .filter(([, functions]) => typeof functions === "object")
    .sort(([left], [right]) => (left < right ? -1 : 1));
  const docs = await docstrings();
  const sections = subjects.flatMap(([subject, functions]) => [
    `## \`swank.${subject}\``,
    paragraph(docs.get(subject) ?? ""),
    table(
      ["function", "runs in", "contrib", "meaning"],
      Object.entries(functions).map(([name, called]) => callRow(name, called, docs.get(name) ?? "")),
    ),
  ]);
  return sections.join("\n\n");
}

/**
 * @param {string} name
 * @param {{ where?: string, contrib?: string }} called
 * @param {string} text the docstring
 */
function callRow(name, { where = "new-thread", contrib = "" }, text) {
  return [code(name), where.replace("-", " "), contrib === "" ? "" : code(contrib), paragraph(text)];
}

/** The docstring as one paragraph, in which code keeps its backquotes. @param {string} text */
function paragraph(text) {
  const parts = text
    .replaceAll(/(?:\s*\n\s*\*?)+\s*/g, " ")
    .trim()
    .split(/(`[^`]*`)/);
  return parts.map((part) => (part.startsWith("`") ? part : prose(part))).join("");
}

/** @returns {Promise<Map<string, string>>} the docstring of each constant, and of each row of the tables */
async function docstrings() {
  const files = await readdir(inRepository(CLIENT), { recursive: true });
  const found = new Map();
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const source = await readFile(inRepository(`${CLIENT}/${file}`), "utf8");
    for (const { groups } of source.matchAll(DECLARATION)) {
      const name = groups?.["constant"] ?? (dirname(file) === "swank" ? groups?.["row"] : undefined);
      if (name !== undefined && (dirname(file) === "swank" || !found.has(name)))
        found.set(name, groups?.["text"] ?? "");
    }
  }
  return found;
}
