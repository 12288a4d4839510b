// Explores a Lisp: finds symbols, describes them, shows definitions, uses and machine code, and inspects objects page by page.
// `node examples/explore.mjs [FILE...]` starts a Lisp, loads the files, and reads commands, one on each line. `help` lists them.
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { launch, Sources, SwankError } from "swank-client";
import * as swank from "swank-client/swank";

/** @typedef {import("swank-client").SwankClient} SwankClient */
/** @typedef {import("swank-client").Inspector} Inspector */

/** The number of entries of an inspected object on a page, which ends with a line. An element of a list has four. */
const PAGE = 40;

/** @type {readonly import("swank-client").types.XrefKind[]} */
const KINDS = ["calls", "references", "binds", "sets", "macroexpands", "specializes"];

/** @param {SwankClient} client @param {string} text */
async function apropos(client, text) {
  const found = await client.run(swank.definitions.aproposListForEmacs, text, { externalOnly: false });
  for (const { designator, meanings } of found) {
    console.log(designator);
    for (const [kind, documentation = "not documented"] of Object.entries(meanings))
      console.log(`  ${kind}: ${documentation.split("\n")[0]}`);
  }
  if (found.length === 0) console.log("No symbol has this text in its name.");
}

/** @param {readonly import("swank-client").types.DefinitionPlace[]} places */
async function printPlaces(places) {
  const sources = new Sources();
  for (const { name, location } of places) {
    const found = await sources.locate(location);
    const file = found.status === "unknown" ? found.reason : relative("", found.path ?? "not in a file");
    const position = found.status === "found" && found.path !== undefined ? `:${found.line}:${found.column}` : "";
    console.log(`  ${name.replace(/\s+/g, " ")}  ${file}${position}`);
  }
}

/** @param {SwankClient} client @param {string} name */
async function definitions(client, name) {
  const found = await client.run(swank.definitions.findDefinitionsForEmacs, name);
  if (found.length === 0) console.log("No definition is known.");
  await printPlaces(found);
}

/** @param {SwankClient} client @param {string} name */
async function uses(client, name) {
  const groups = await client.run(swank.definitions.xrefs, KINDS, name);
  if (groups.length === 0) console.log("No use is known.");
  for (const { kind, places } of groups) {
    console.log(`${kind}:`);
    await printPlaces(places);
  }
}

/** The object that is shown, and how far. Its inspector has the objects whose parts led to it as its parents. */
class Viewer {
  #client;
  /** @type {Inspector | undefined} */
  #inspector;
  #shown = 0;

  /** @param {SwankClient} client */
  constructor(client) {
    this.#client = client;
  }

  /** Shows the first page of an object. @param {Inspector | undefined} inspector */
  async #open(inspector) {
    if (inspector === undefined) return console.log("There is no such object.");
    this.#inspector = inspector;
    this.#shown = 0;
    console.log(`${inspector.title}  ${inspector.class}`);
    await this.more();
  }

  /** @param {string} form */
  async inspect(form) {
    await this.#open(await swank.Inspector.open(this.#client.lisp, form));
  }

  /** @param {string} number */
  async part(number) {
    await this.#open(await this.#inspector?.part(Number(number)));
  }

  async back() {
    await this.#open(this.#inspector?.parent);
  }

  /** Prints the next page, in which `[3]` is the number of the object after it. */
  async more() {
    const page = await this.#inspector?.parts(this.#shown, this.#shown + PAGE);
    if (page === undefined) return console.log("No object is shown.");
    this.#shown = page.end;
    const text = page.parts
      .map((part) => (part.kind === "value" ? `[${part.index}] ${part.text}` : part.text))
      .join("");
    console.log((text.trimEnd() || "That is all.").replace(/^/gm, "  "));
    if (page.hasMore) console.log("  `more` shows more.");
  }
}

/** The commands. Each takes the rest of its line. @param {SwankClient} client @returns {Record<string, (rest: string) => unknown>} */
function commandsOf(client) {
  const viewer = new Viewer(client);
  return {
    "apropos TEXT": (text) => apropos(client, text),
    "describe NAME": async (name) => console.log((await client.run(swank.definitions.describeSymbol, name)).trimEnd()),
    "definitions NAME": (name) => definitions(client, name),
    "uses NAME": (name) => uses(client, name),
    "disassemble NAME": async (name) => console.log(await client.run(swank.compiling.disassembleForm, `'${name}`)),
    "inspect FORM": (form) => viewer.inspect(form),
    "part NUMBER": (number) => viewer.part(number),
    back: () => viewer.back(),
    more: () => viewer.more(),
  };
}

/** Runs a command, and prints the error if Lisp refuses it. @param {ReturnType<typeof commandsOf>} commands @param {string} line */
async function obey(commands, line) {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  const command = Object.entries(commands).find(([usage]) => usage.split(" ")[0] === word)?.[1];
  if (command === undefined) return console.log(`Commands: ${Object.keys(commands).join(", ")}`);
  try {
    await command(rest);
  } catch (error) {
    if (!(error instanceof SwankError) || !client.isOpen) throw error;
    console.log(error.message);
  }
}

const client = await launch();
try {
  for (const file of process.argv.slice(2)) await client.run(swank.evaluation.loadFile, file);
  const commands = commandsOf(client);
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() !== "") await obey(commands, line);
    if (isTerminal) terminal.prompt();
  }
} finally {
  await client.close();
}
