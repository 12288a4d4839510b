import { expect } from "chai";
import { AgentSession, CATALOGUE, defineTool, ImageHost, Refusal, readConfig, ToolServer } from "swank-mcp";
import * as z from "zod";
import { FAMILIES } from "#swank-mcp/base/config.js";
import { explainError, REFUSALS, type RefusalCode } from "#swank-mcp/base/refusals.js";
import { COMMANDS, commandsText, offeredCommands } from "#swank-mcp/console/commands.js";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "#swank-mcp/mcp/instructions.js";
import { callTool, toolServer } from "../../support/mcp-server.js";

const NAMES = CATALOGUE.map(({ name }) => name);

/** Every choice of families but none at all. */
const CHOICES = Array.from({ length: 2 ** FAMILIES.length - 1 }, (_, index) =>
  FAMILIES.filter((_family, bit) => ((index + 1) >> bit) % 2 === 1),
);

function serverWith(families: readonly string[], ...options: string[]): ToolServer {
  return toolServer(() => Promise.reject(new Error("no Lisp is needed")), ["--tools", families.join(","), ...options]);
}

function isCode(code: string): code is RefusalCode {
  return code in REFUSALS;
}

/** Everything that a client can be told without an image. */
async function said(tools: ToolServer, instructions = INSTRUCTIONS): Promise<string> {
  const refusals = Object.keys(REFUSALS)
    .filter(isCode)
    .map((code) => explainError(new Refusal(code, "It went wrong."), tools.guide));
  const answers = await Promise.all(
    [...tools.tools.map(({ name }) => callTool(tools, name, { bad: 1 })), callTool(tools, "no-such-tool")].flat(),
  );
  const listed = tools.tools.map(({ description, inputSchema, title }) => [title, description, inputSchema]);
  return JSON.stringify([
    tools.guide.advise(instructions),
    commandsText(offeredCommands(tools.guide)),
    refusals,
    answers,
    listed,
  ]);
}

describe("chooseTools with --tools", () => {
  for (const choice of CHOICES) {
    it(`lists and names only the tools of ${choice.join(",")}`, async () => {
      const tools = serverWith(choice);
      const isOn = (name: string) => CATALOGUE.some((tool) => tool.name === name && choice.includes(tool.family));
      expect(tools.tools.map(({ name }) => name)).to.deep.equal(NAMES.filter(isOn));
      const text = await said(tools);
      // asdf:load-system is a function.
      for (const name of NAMES.filter((other) => !isOn(other)))
        expect(text).not.to.match(new RegExp(`(?<![\\w:])${name}\\b`));
    });
  }

  it("mentions neither breakpoints nor restarts in the descriptions of core", () => {
    const tools = serverWith(["core"]);
    expect(tools.guide.advise(INSTRUCTIONS)).not.to.match(/breakpoint|invoke/i);
    // The contract describe-last-error names restarts.
    const described = tools.tools.filter(({ name }) => name !== "describe-last-error");
    for (const { name, description } of described)
      expect(description, name).not.to.match(/restart|debugger|breakpoint/i);
  });

  it("refuses a hidden tool, and suggests none", async () => {
    const { structured } = await callTool(serverWith(["core", "debug"]), "breakpoint_set", { function: "f" });
    expect(structured).to.have.nested.property("error.data.type", "UNKNOWN_TOOL");
    expect(structured).to.have.nested.property("error.data.next").that.includes("Call one of: evaluate-lisp,");
    expect(JSON.stringify(structured)).not.to.include("breakpoint_list");
  });

  it("offers every tool, command and hint by default", async () => {
    const tools = toolServer(() => Promise.reject(new Error("no Lisp is needed")));
    expect(tools.tools.map(({ name }) => name)).to.deep.equal(NAMES);
    expect(tools.guide.advise(INSTRUCTIONS)).to.equal(INSTRUCTIONS);
    expect(offeredCommands(tools.guide)).to.deep.equal(COMMANDS);
  });

  it("refuses an unknown family, and a console without core", () => {
    expect(() => readConfig(["--tools", "core,debugger"], {})).to.throw(
      '--tools takes a comma-separated list of core, debug, breakpoints, code, runtime, not "debugger".',
    );
    expect(() => readConfig(["console", "--tools", "debug"], {})).to.throw("The console needs the core tools");
    expect(readConfig([], { SWANK_MCP_TOOLS: "debug, core" }).tools).to.deep.equal(["core", "debug"]);
  });
});

describe("chooseTools with --read-only", () => {
  const writers = CATALOGUE.filter(({ canOnlyRead }) => !canOnlyRead).map(({ name }) => name);

  it("withholds every tool that does more than read, and names none of them", async () => {
    const tools = serverWith(FAMILIES, "--read-only");
    expect(tools.tools.map(({ name }) => name)).to.deep.equal(NAMES.filter((name) => !writers.includes(name)));
    expect(tools.withheld).to.deep.equal(writers);
    expect(tools.tools.filter(({ annotations }) => !annotations.readOnlyHint)).to.deep.equal([]);
    const text = await said(tools, READ_ONLY_INSTRUCTIONS);
    for (const name of writers) expect(text).not.to.match(new RegExp(`(?<![\\w:])${name}\\b`));
  });

  it("refuses a withheld tool whatever its arguments are, before Lisp is needed", async () => {
    const tools = serverWith(FAMILIES, "--read-only");
    for (const name of writers)
      for (const args of [{}, { code: "1" }, { bad: 1 }]) {
        const { structured } = await callTool(tools, name, args);
        expect(structured, name).to.have.nested.property("error.data.type", "READ_ONLY");
      }
  });

  it("does not make a hidden tool of another family known", async () => {
    const { structured } = await callTool(serverWith(["core"], "--read-only"), "breakpoint_set", { function: "f" });
    expect(structured).to.have.nested.property("error.data.type", "UNKNOWN_TOOL");
  });

  it("refuses an action that the user would be asked about, even if the tool claims to read", async () => {
    let isDone = false;
    const claiming = defineTool({
      name: "claims-to-read",
      family: "core",
      effect: "evaluates",
      runsCode: () => false,
      title: "Claims",
      description: "Claims to read.",
      input: () => z.strictObject({}),
      plan: async () => ({
        request: { operation: ":eval", action: "act", particulars: [] },
        act: async () => {
          isDone = true;
          return { blocks: [], isError: false };
        },
      }),
    });
    const options = ["--read-only", "--approval", "off"];
    const open = () => Promise.reject(new Error("no Lisp is needed"));
    const session = new AgentSession(new ImageHost(open), readConfig(options, {}));
    const tools = new ToolServer(session, { catalogue: [claiming] });
    expect((await callTool(tools, "claims-to-read")).structured).to.have.nested.property(
      "error.data.type",
      "READ_ONLY",
    );
    expect(isDone).to.equal(false);
  });

  it("has instructions within MCP's limit, which name only tools that read", () => {
    expect(READ_ONLY_INSTRUCTIONS.length).to.be.below(2048);
    const tools = serverWith(FAMILIES, "--read-only");
    expect(tools.guide.advise(READ_ONLY_INSTRUCTIONS)).to.equal(READ_ONLY_INSTRUCTIONS);
  });
});

describe("a tool's description", () => {
  it("names the defaults of the configuration", () => {
    const timeouts = (tools: ToolServer) =>
      new Set(tools.tools.flatMap(({ inputSchema }) => inputSchema.properties["timeout"]?.description ?? []));
    const all = (seconds: number) => new Set([`Seconds until it is interrupted (default ${seconds})`]);
    expect(timeouts(serverWith(FAMILIES))).to.deep.equal(all(30));
    expect(timeouts(serverWith(FAMILIES, "--timeout", "7"))).to.deep.equal(all(7));
  });
});
