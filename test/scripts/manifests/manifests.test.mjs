import { readFile } from "node:fs/promises";
import { expect } from "chai";
import {
  about,
  bundleManifest,
  descriptionProblems,
  jsonText,
  SETTINGS,
  vscode,
} from "../../../scripts/manifests/manifests.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

/** @param {string} path */
const readJson = async (path) => JSON.parse(await readFile(inRepository(path), "utf8"));

describe("descriptionProblems", () => {
  it("refuses a description that the MCP registry would refuse", async () => {
    expect(descriptionProblems(await about())).to.deep.equal([]);
    expect(descriptionProblems({ description: "x".repeat(101) })).to.have.length(1);
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
