import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
// The skills' example has tests: this import makes the set-up install FiveAM.
import "../support/fiveam.js";
import { INSTRUCTIONS } from "#swank-mcp/mcp/instructions.js";
import { CATALOGUE } from "#swank-mcp/tools/catalogue.js";
import { expectFacts } from "../support/facts.js";
import { allBlocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";

const ROOT = new URL("../../../", import.meta.url);

const SKILLS = new URL("packages/swank-mcp/skills/", ROOT);

/** The program in the skills' examples. */
const EXAMPLE = new URL("test/docs/skills/", ROOT);

/** Limits of the hosts that read skills. */
const MAX_LINES = 150;

const MAX_DESCRIPTION = 1024;

interface Call {
  readonly kind: "call";
  readonly tool: string;
  readonly args: object;
  readonly facts: string[];
}

interface Edit {
  readonly kind: "edit";
  readonly file: string;
  readonly lines: string[];
}

/** The calls and edits in the blocks of a skill, in order. */
function stepsOf(text: string): readonly (Call | Edit)[] {
  const steps: (Call | Edit)[] = [];
  for (const [, block = ""] of text.matchAll(/^```\n([\s\S]*?)^```$/gm))
    for (const line of block.trimEnd().split("\n")) {
      const last = steps.at(-1);
      const [, tool = "", args = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
      if (line.startsWith("  ") && last?.kind === "call") last.facts.push(line.slice(2));
      else if (/^[-+] /.test(line) && last?.kind === "edit") last.lines.push(line);
      else if (tool === "edit") steps.push({ kind: "edit", file: args, lines: [] });
      else steps.push({ kind: "call", tool, args: Object(JSON.parse(args)), facts: [] });
    }
  return steps;
}

async function edit(folder: string, { file, lines: [old = "", made = ""] }: Edit): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  expect(text).to.include(old.slice(2));
  await writeFile(
    path,
    text.replace(old.slice(2), () => made.slice(2)),
  );
}

/** Does what a skill says, in a folder with the example, and expects the answers that it shows. */
async function follow(text: string, args: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "skill-"));
  await cp(EXAMPLE, folder, { recursive: true });
  const server = new McpStdio(args, { folder });
  try {
    await server.initialize();
    for (const step of stepsOf(text)) {
      if (step.kind === "edit") await edit(folder, step);
      else expectFacts(allBlocks(await server.call(step.tool, step.args)).join("\n\n"), ...step.facts);
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}

/** The text without its frontmatter, code and generated parts. */
function proseOf(text: string): string {
  return text
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replace(/^<!-- generated [\s\S]*?^<!-- end of generated -->$/gm, "")
    .replace(/^```[\s\S]*?^```$/gm, "");
}

/** The sentences of a text that are long enough not to be equal by chance. */
function sentencesOf(text: string): readonly string[] {
  const paragraphs = proseOf(text)
    .replaceAll("`", "")
    .split(/\n\n|\n(?=- |\d+\. )/);
  return paragraphs
    .flatMap((paragraph) => paragraph.replace(/\s+/g, " ").split(/(?<=[.:;?!]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 25);
}

describe("skills", () => {
  const texts = new Map<string, string>();

  before(async () => {
    for (const name of await readdir(SKILLS))
      texts.set(name, await readFile(new URL(`${name}/SKILL.md`, SKILLS), "utf8"));
  });

  it("have a name, a description and a length that hosts accept", () => {
    expect([...texts.keys()]).to.deep.equal(["lisp-debugging", "lisp-development", "lisp-live-systems"]);
    for (const [name, text] of texts) {
      const [, head = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
      const [, description = ""] = /^name: (?:.*)\ndescription: (.*)$/.exec(head) ?? [];
      expect(head).to.match(new RegExp(`^name: ${name}\\n`));
      // An angle bracket is refused by some hosts, and a colon with a space ends a plain text of YAML.
      expect(description)
        .to.match(/^[^<>"]{40,}$/)
        .and.not.include(": ");
      expect(description.length).to.be.at.most(MAX_DESCRIPTION);
      expect(text.split("\n").length, name).to.be.at.most(MAX_LINES);
    }
  });

  it("name only tools and arguments that exist", () => {
    const tools = new Set(CATALOGUE.map(({ name }) => name));
    for (const text of texts.values()) {
      const named = [...text.matchAll(/`([a-z]+(?:[_-][a-z]+)+)`/g)].map(([, name = ""]) => name);
      const others = [
        "object_id",
        "stop-on-failure",
        "stops-only",
        "in-package",
        "with-open-file",
        "handler-case",
        "ignore-errors",
      ];
      expect(named.filter((name) => !tools.has(name) && !others.includes(name))).to.deep.equal([]);
    }
  });

  it("repeat no sentence of the instructions, of each other, or of docs/agents.md", async () => {
    const sources = [...texts.values(), INSTRUCTIONS, await readFile(new URL("docs/agents.md", ROOT), "utf8")];
    const counts = new Map<string, number>();
    for (const source of sources)
      for (const sentence of new Set(sentencesOf(source))) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
    // How to read the blocks is part of each skill, because hosts load one alone.
    const repeated = [...counts].filter(([sentence, count]) => count > 1 && !/^In the blocks below/.test(sentence));
    expect(repeated).to.deep.equal([]);
  });

  for (const [name, args] of [
    ["lisp-debugging", []],
    ["lisp-development", []],
    ["lisp-live-systems", ["--load", "live.lisp"]],
  ] as const)
    it(`${name} shows calls that answer as it says`, async () => {
      await follow(texts.get(name) ?? "", args);
    }).timeout(180_000);
});
