import { readFile } from "node:fs/promises";
import { expect } from "chai";
import {
  about,
  bundleManifest,
  jsonText,
  manifestProblems,
  SETTINGS,
  vscode,
} from "../../../scripts/manifests/manifests.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

/** @param {string} path */
const readJson = async (path) => JSON.parse(await readFile(inRepository(path), "utf8"));

describe("manifestProblems", () => {
  it("finds nothing in a valid manifest", async () => {
    expect(await manifestProblems("server.json", await readJson("server.json"))).to.deep.equal([]);
  });

  it("names the field of a description that the MCP registry would refuse", async () => {
    const server = { ...(await readJson("server.json")), description: "x".repeat(101) };
    expect(await manifestProblems("server.json", server)).to.deep.equal([
      "server.json, description: A description has at most 100 characters, for the MCP registry.",
    ]);
  });

  it("refuses fields that a closed format does not know", async () => {
    const plugin = { ...(await readJson("plugin.json")), skills: "./skills/" };
    expect((await manifestProblems("plugin.json", plugin))[0]).to.match(/^plugin\.json, as a whole: .*"skills"/);
  });

  it("refuses a server whose version is not exact", async () => {
    const mcp = await readJson("mcp.json");
    mcp.mcpServers.swank.args[1] = "npm:swank-mcp";
    expect(await manifestProblems("mcp.json", mcp)).to.have.length(1);
  });

  it("refuses a manifest without rules", async () => {
    expect((await manifestProblems("other.json", {}))[0]).to.include("has no rules");
  });
});

describe("the manifest of the .mcpb file", () => {
  it("passes every setting to the server, whose empty value counts as unset", async () => {
    const { server, user_config } = bundleManifest(await about(), []);
    for (const [key, { variable }] of Object.entries(SETTINGS)) {
      expect(server.mcp_config.env[variable]).to.equal(`\${user_config.${key}}`);
      expect(user_config[key]?.default).to.equal("");
    }
  });

  it("has settings that are options of the server", async () => {
    const options = await readFile(inRepository("docs/options.md"), "utf8");
    for (const { variable } of Object.values(SETTINGS)) expect(options).to.include(`\`${variable}\``);
  });
});

describe("gemini-extension.json", () => {
  it("lets the variables that name the Lisp and the image arrive, and those of no other command", async () => {
    const { mcpServers } = await readJson("gemini-extension.json");
    const { env } = mcpServers.swank;
    expect(env).to.include({ SBCL_HOME: `\${SBCL_HOME:-}`, SWANK_MCP_ATTACH: `\${SWANK_MCP_ATTACH:-}` });
    expect(env).to.not.have.any.keys("SWANK_MCP_PORT", "SWANK_MCP_FIX", "SWANK_MCP_HELP");
  });
});

describe("jsonText", () => {
  it("writes lists that fit on a line as Biome does", () => {
    const data = { args: ["-y", "name"], long: ["x".repeat(60), "y".repeat(60)], of: [{ a: 1 }] };
    expect(jsonText(data)).to.include('  "args": ["-y", "name"],\n  "long": [\n    "xxx');
    expect(JSON.parse(jsonText(data))).to.deep.equal(data);
  });
});

describe("the configuration of VS Code in the README", () => {
  it("is JSON that starts the published server", async () => {
    const [, json = ""] = /```json\n([\s\S]*)```/.exec(await vscode()) ?? [];
    const { version } = await about();
    expect(JSON.parse(json).servers.swank.args).to.deep.equal(["-y", `npm:swank-mcp@${version}`]);
  });
});
