import { readdir, readFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { code, GENERATED, prose, table } from "./markdown.mjs";

const FOLDER = "packages/swank-client/dist/calls";

/** A documented constant of a declaration file. */
const DECLARATION = /\/\*\*(?<text>(?:(?!\*\/).)*)\*\/\s*export declare const (?<name>\w+):/gs;

const INTRODUCTION = `The functions of Swank and its contribs that \`swank-client\` describes. Each is a value of \`calls\`, called with
\`lisp.run(calls.NAME, ...arguments)\`, or in a stopped thread with \`stop.run(calls.NAME, ...arguments)\`. A contrib is loaded by the first
call that needs it; \`CONTRIB_MISSING\` means that the image does not have it. \`lispFunction\` describes any other function.`;

/** Functions without a descriptor. */
const LEFT_OUT = [
  [
    "swank:simple-break, swank:sldb-break-with-default-debugger",
    "They only stop the thread that would answer; `lisp.interruptThread` stops a thread.",
  ],
  ["swank:sldb-break, swank:sldb-break-on-return", "SBCL does not implement them; `lisp.breakpoints` does."],
  [
    "swank:find-definition-for-thing, swank:inst-location",
    "They take an object, which a client does not have; `findSourceLocationForEmacs` takes an expression.",
  ],
  ["swank:inspect-presentation", "Only Emacs's REPL makes presentations; `lisp.inspect` inspects any value."],
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
 * Returns docs/calls.md: every descriptor of a function of Swank, from its name and its docstring. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function callsPage() {
  const calls = await import("../../packages/swank-client/dist/calls/index.js");
  const docs = await docstrings();
  const rows = Object.entries(calls)
    .flatMap(([name, called]) => (isDescriptor(called) && isSwanks(called) ? [{ name, called }] : []))
    .map(({ name, called }) => rowOf(name, called, docs.get(name) ?? ""))
    .sort(([left = ""], [right = ""]) => (left < right ? -1 : 1));
  return [
    GENERATED,
    "# Swank's functions",
    INTRODUCTION,
    table(["`calls`", "runs in", "contrib", "meaning"], rows),
    "These functions of Swank have no descriptor:",
    table(
      ["functions", "reason"],
      LEFT_OUT.map(([names = "", reason = ""]) => [names.split(", ").map(code).join(", "), paragraph(reason)]),
    ),
  ].join("\n\n");
}

/** @typedef {{ name: string, label?: () => string, where?: string, contrib?: string }} Descriptor */

/** @param {unknown} value @returns {value is Descriptor} */
function isDescriptor(value) {
  return typeof value === "object" && value !== null && "decode" in value && "name" in value;
}

/** A descriptor may call its function through `cl:apply`. @param {Descriptor} called */
function isSwanks({ name, label }) {
  return (name.startsWith("cl:") ? label?.() : name)?.startsWith("swank");
}

/**
 * @param {string} name
 * @param {Descriptor} called
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

/** @returns {Promise<Map<string, string>>} the docstring of each constant */
async function docstrings() {
  const files = await readdir(inRepository(FOLDER), { recursive: true });
  const found = new Map();
  for (const file of files.filter((name) => name.endsWith(".d.ts"))) {
    const source = await readFile(inRepository(`${FOLDER}/${file}`), "utf8");
    for (const { groups } of source.matchAll(DECLARATION)) found.set(groups?.["name"], groups?.["text"] ?? "");
  }
  return found;
}
