import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import * as z from "zod";
import { McpInProcess } from "../../support/mcp-in-process.js";
import { toolServer } from "../../support/mcp-server.js";

const NAMES = ["lisp-debugging", "lisp-development", "lisp-live-systems"];

const skill = z.looseObject({
  uri: z.string(),
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  resources: z.array(z.looseObject({ uri: z.string(), digest: z.string(), size: z.number() })),
});

const listed = z.looseObject({ skills: z.array(skill) });

const gotten = z.looseObject({ skill });

const contents = z.looseObject({ contents: z.array(z.looseObject({ uri: z.string(), text: z.string() })) });

const served = z.looseObject({ resources: z.array(z.looseObject({ uri: z.string(), mimeType: z.string() })) });

function server(args: readonly string[] = []) {
  return toolServer(() => Promise.reject(new Error("no Lisp is needed")), args);
}

async function namesFor(args: readonly string[]): Promise<readonly string[]> {
  const client = McpInProcess.modern(server(args));
  try {
    return listed.parse(await client.request("skills/list")).skills.map(({ frontmatter }) => frontmatter.name);
  } finally {
    await client.close();
  }
}

describe("skills over MCP", () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const)
    it(`are listed, described and read in revision ${revision}, with the digest of their text`, async () => {
      const client = new McpInProcess(server(), { revision });
      if (revision === "2025-11-25") await client.initialize();
      const { skills } = listed.parse(await client.request("skills/list"));
      expect(skills.map(({ frontmatter }) => frontmatter.name)).to.deep.equal(NAMES);
      for (const entry of skills) {
        const { uri, frontmatter } = entry;
        expect(gotten.parse(await client.request("skills/get", { uri })).skill).to.deep.equal(entry);
        const [read] = contents.parse(await client.request("resources/read", { uri })).contents;
        const file = new URL(`../../../../packages/swank-mcp/skills/${frontmatter.name}/SKILL.md`, import.meta.url);
        expect(read?.text).to.equal(await readFile(file, "utf8"));
        const digest = createHash("sha256")
          .update(read?.text ?? "")
          .digest("hex");
        expect(entry.resources).to.deep.equal([
          { uri, digest: `sha256:${digest}`, size: Buffer.byteLength(read?.text ?? "") },
        ]);
      }
      const { resources } = served.parse(await client.request("resources/list"));
      expect(resources.map(({ uri }) => uri)).to.include.members(skills.map(({ uri }) => uri));
      await client.close();
    });

  it("are refused when there is no such skill", async () => {
    const client = McpInProcess.modern(server());
    const uri = "skill://lisp-knitting/SKILL.md";
    for (const method of ["skills/get", "resources/read"]) {
      const { error } = await client.exchange(method, client.inRevision({ uri }));
      expect(error?.message, method).to.include(uri);
    }
    await client.close();
  });

  it("are left out when they name a tool that is switched off", async () => {
    expect(await namesFor(["--tools", "core,debug,breakpoints,runtime,code"])).to.deep.equal(NAMES);
    expect(await namesFor(["--tools", "core"])).to.deep.equal([]);
    expect(await namesFor(["--read-only"])).to.deep.equal([]);
  });
});
