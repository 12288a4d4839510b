import { expect } from "chai";
import * as z from "zod";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "#swank-mcp/mcp/instructions.js";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { McpInProcess } from "../../support/mcp-in-process.js";
import { toolServer } from "../../support/mcp-server.js";

const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

const OTHERS = [
  {},
  { elicitation: {} },
  { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } } },
];

const listed = z.looseObject({
  resources: z.array(z.looseObject({ uri: z.string(), mimeType: z.string(), name: z.string() })),
});

const contents = z.looseObject({
  contents: z.tuple([z.looseObject({ uri: z.string(), mimeType: z.string(), text: z.string() })]),
});

const tools = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), _meta: z.unknown().optional() })),
});

const prompt = z.looseObject({ messages: z.tuple([z.looseObject({ content: z.looseObject({ text: z.string() }) })]) });

let attempts = 0;

async function connected(
  revision: (typeof REVISIONS)[number],
  { args = [], capabilities = {} }: { args?: readonly string[]; capabilities?: object } = {},
): Promise<McpInProcess> {
  attempts = 0;
  const open = () => {
    attempts += 1;
    return Promise.reject(new Error("no Lisp is needed"));
  };
  const client = new McpInProcess(toolServer(open, args), { revision, capabilities });
  if (revision === "2025-11-25") await client.initialize();
  return client;
}

async function textAt(client: McpInProcess, uri: string): Promise<string> {
  return contents.parse(await client.request("resources/read", { uri })).contents[0].text;
}

for (const revision of REVISIONS)
  describe(`resources in revision ${revision}`, () => {
    it("are listed, and read without an image", async () => {
      const client = await connected(revision);
      const { resources } = listed.parse(await client.request("resources/list"));
      expect(resources.map(({ uri }) => uri).filter((uri) => !uri.startsWith("skill:"))).to.deep.equal([
        "lisp://stops",
        "lisp://errors/last",
        "lisp://definitions",
      ]);
      expect(await textAt(client, "lisp://stops")).to.match(/^There is no Lisp image/);
      expect(await textAt(client, "lisp://errors/last")).to.equal(NO_ERROR);
      expect(await textAt(client, "lisp://definitions")).to.match(/^There is no Lisp image/);
      expect(attempts).to.equal(0);
      await client.close();
    });

    it("are read anew each time, unlike those that never change", async () => {
      const client = await connected(revision);
      const timeOf = async (uri: string) =>
        z.looseObject({ ttlMs: z.number().optional() }).parse(await client.request("resources/read", { uri })).ttlMs;
      expect([await timeOf("lisp://stops"), await timeOf("ui://swank/stop")]).to.deep.equal(
        revision === "2026-07-28" ? [0, 3_600_000] : [undefined, undefined],
      );
      await client.close();
    });

    it("are refused when there is none at an address", async () => {
      const client = await connected(revision);
      const methods = revision === "2025-11-25" ? ["resources/read", "resources/subscribe"] : ["resources/read"];
      for (const method of methods) {
        const { error } = await client.exchange(method, client.inRevision({ uri: "lisp://nothing" }));
        expect(error?.message, method).to.include("lisp://nothing");
      }
      await client.close();
    });

    it("have the app that shows a stop for hosts that show apps, and others notice nothing of it", async () => {
      const host = await connected(revision, { capabilities: APPS });
      const shown = tools.parse(await host.request("tools/list")).tools;
      expect(listed.parse(await host.request("resources/list")).resources.at(-1)).to.deep.include({
        uri: "ui://swank/stop",
        mimeType: "text/html;profile=mcp-app",
      });
      const withApp = shown.filter(({ _meta }) => _meta !== undefined);
      expect(withApp.map(({ name }) => name)).to.include.members(["evaluate-lisp", "debugger_frames"]);
      for (const { _meta } of withApp) expect(_meta).to.deep.equal({ ui: { resourceUri: "ui://swank/stop" } });
      await host.close();
      for (const capabilities of OTHERS) {
        const other = await connected(revision, { capabilities });
        const plain = tools.parse(await other.request("tools/list")).tools;
        expect(plain).to.deep.equal(shown.map(({ _meta, ...tool }) => tool));
        expect(JSON.stringify(await other.request("resources/list"))).not.to.include("ui://");
        await other.close();
      }
    });
  });

describe("the prompt debug", () => {
  it("gives the skill's text, without what is not for the agent", async () => {
    for (const revision of REVISIONS) {
      const client = await connected(revision);
      expect(await client.request("prompts/list")).to.have.nested.property("prompts[0].name", "debug");
      expect(await client.request("prompts/list")).not.to.have.nested.property("prompts[0].arguments");
      const [{ content }] = prompt.parse(await client.request("prompts/get", { name: "debug" })).messages;
      expect(content.text).to.match(
        /^Look at the stopped threads .*\n\n# Debug in a live Lisp image\n\nAn error does not/,
      );
      expect(content.text).not.to.match(/<!--|^---$/m);
      expect(attempts).to.equal(0);
      await client.close();
    }
  });

  it("names no tool that is switched off", async () => {
    for (const [args, expected] of [
      [["--read-only"], READ_ONLY_INSTRUCTIONS],
      [["--tools", "core"], INSTRUCTIONS.slice(0, 100)],
    ] as const) {
      const client = await connected("2026-07-28", { args });
      const [{ content }] = prompt.parse(await client.request("prompts/get", { name: "debug" })).messages;
      expect(content.text).to.include(expected);
      expect(content.text).not.to.include("debugger_invoke_restart");
      await client.close();
    }
  });

  it("is the only one", async () => {
    const client = await connected("2026-07-28");
    const { error } = await client.exchange("prompts/get", client.inRevision({ name: "destroy" }));
    expect(error?.message).to.equal('There is no prompt "destroy": there is debug.');
    await client.close();
  });
});
