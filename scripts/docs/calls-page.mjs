import { readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { inRepository } from "../setup/paths.mjs";
import { code, GENERATED, prose, table } from "./markdown.mjs";

const FOLDER = "packages/swank-client/src";

/** A documented constant or row of a table. */
const DECLARATION = /\/\*\*(?<text>(?:(?!\*\/).)*)\*\/\s*(?:export const (?<constant>\w+) =|(?<row>\w+):)/gs;

const INTRODUCTION = `The functions of Swank and its contribs that \`swank-client/swank\` describes, a table a subject. After
\`import * as swank from "swank-client/swank"\` they are called with \`client.run(swank.SUBJECT.NAME, ...arguments)\`, or in a stopped thread
with \`stop.run(swank.SUBJECT.NAME, ...arguments)\`. A contrib is loaded by the first call that needs it; \`CONTRIB_MISSING\` means that the
image does not have it. \`lispFunction\` describes any other function.`;

/** Functions without a descriptor. */
const LEFT_OUT = [
  [
    "swank:simple-break, swank:sldb-break-with-default-debugger",
    "They only stop the thread that would answer; `client.program.stopThread` stops a thread.",
  ],
  ["swank:sldb-break, swank:sldb-break-on-return", "SBCL does not implement them; `client.breakpoints` does."],
  [
    "swank:find-definition-for-thing, swank:inst-location",
    "They take an object, which a client does not have; `findSourceLocationForEmacs` takes an expression.",
  ],
  ["swank:inspect-presentation", "Only Emacs's REPL makes presentations; `Inspector.open` inspects any value."],
  [
    "swank:start-swank-server-in-thread",
    "The thread would serve its port and nothing else, until a client has come and gone.",
  ],
  ["swank:fuzzy-completion-selected", "It does nothing."],
  [
    "swank:toggle-debug-on-swank-error, swank:io-speed-test, swank:flow-control-test",
    "They are for the development of Swank.",
  ],
];

/**
 * Returns docs/calls.md: every table of functions of Swank, with names and docstrings. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function callsPage() {
  const tables = Object.entries(await import("../../packages/swank-client/dist/swank/index.js"))
    .filter(([, functions]) => typeof functions === "object")
    .sort(([left], [right]) => (left < right ? -1 : 1));
  const docs = await docstrings();
  return [
    GENERATED,
    "# Swank's functions",
    INTRODUCTION,
    ...tables.flatMap(([subject, functions]) => [
      `## \`swank.${subject}\``,
      paragraph(docs.get(subject) ?? ""),
      table(
        ["function", "runs in", "contrib", "meaning"],
        Object.entries(functions).map(([name, called]) => rowOf(name, called, docs.get(name) ?? "")),
      ),
    ]),
    "## Others",
    "These functions of Swank have no descriptor:",
    table(
      ["functions", "reason"],
      LEFT_OUT.map(([names = "", reason = ""]) => [names.split(", ").map(code).join(", "), paragraph(reason)]),
    ),
  ].join("\n\n");
}

/**
 * @param {string} name
 * @param {{ where?: string, contrib?: string }} called
 * @param {string} text the docstring
 */
function rowOf(name, { where = "new-thread", contrib = "" }, text) {
  return [code(name), where.replace("-", " "), contrib === "" ? "" : code(contrib), paragraph(text)];
}

/**
 * The docstring as one paragraph, in which code keeps its backquotes.
 *
 * @param {string} text
 */
function paragraph(text) {
  const line = text.replaceAll(/(?:\s*\n\s*\*?)+\s*/g, " ").trim();
  return line
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : prose(part)))
    .join("");
}

/** @returns {Promise<Map<string, string>>} the docstring of each constant, and of each row of the tables */
async function docstrings() {
  const files = await readdir(inRepository(FOLDER), { recursive: true });
  const found = new Map();
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const source = await readFile(inRepository(`${FOLDER}/${file}`), "utf8");
    for (const { groups } of source.matchAll(DECLARATION)) {
      const name = groups?.["constant"] ?? (dirname(file) === "swank" ? groups?.["row"] : undefined);
      if (name !== undefined && (dirname(file) === "swank" || !found.has(name)))
        found.set(name, groups?.["text"] ?? "");
    }
  }
  return found;
}
