import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { HostPrograms } from "../support/host-programs.js";

/** The programs that judge manifests without an account. Their exact versions are those that were tried. */
const PROGRAMS = [
  "@anthropic-ai/mcpb@2.1.2",
  "@anthropic-ai/claude-code@2.1.332",
  "@openai/codex@0.171.0",
  "@google/gemini-cli@0.61.0",
];

/** Packs the .mcpb file into a folder, and prints its path. The build must be there. */
const PACK = `import(${JSON.stringify(new URL("../../../scripts/manifests/mcpb.mjs", import.meta.url).href)})
  .then(({ packMcpb }) => packMcpb(process.argv[1])).then((path) => console.log(path))`;

describe("the manifests, as the programs of hosts see them", () => {
  let hosts: HostPrograms;
  before(async () => {
    hosts = await HostPrograms.install(...PROGRAMS);
  });
  after(() => hosts.remove());

  /** Runs a program that must succeed, and returns what it prints. */
  const run = async (program: string, ...args: readonly string[]) => {
    const { text, succeeded } = await hosts.run(program, ...args);
    expect(succeeded, text).to.equal(true);
    return text;
  };

  /** The skills that a folder of a plugin has. */
  const skills = (folder: string) => readdir(join(folder, "skills")).catch((): string[] => []);

  it("are valid for Claude Code, which installs the plugin with its server and skills", async () => {
    for (const path of [".", ".claude-plugin/plugin.json"]) {
      const text = await run("claude", "plugin", "validate", "--strict", path);
      expect(text).to.match(/Validation passed/);
      expect(text).to.include("mcpServers: swank stdio npx");
      for (const skill of await skills(hosts.plugin)) expect(text).to.include(`swank-mcp:${skill}`);
    }
    await run("claude", "plugin", "marketplace", "add", "./");
    await run("claude", "plugin", "install", "swank-mcp@swank-toolkit");
    expect(await run("claude", "plugin", "list")).to.match(/swank-mcp@swank-toolkit[\s\S]*?enabled/);
  });

  it("are an Agent Plugin for Codex, which copies the skills and lists the server", async () => {
    await run("codex", "plugin", "marketplace", "add", hosts.plugin);
    await run("codex", "plugin", "add", "swank-mcp@swank-toolkit");
    const { version } = JSON.parse(await readFile(join(hosts.plugin, "plugin.json"), "utf8"));
    const installed = join(hosts.home, ".codex/plugins/cache/swank-toolkit/swank-mcp", version);
    expect(await skills(installed)).to.deep.equal(await skills(hosts.plugin));
    expect(await run("codex", "mcp", "list")).to.match(/^swank +npx +-y npm:swank-mcp@/m);
  });

  it("name a package that npx takes from the registry in the folder of the plugin, too", async () => {
    const [program = "", ...args] = await server();
    // Without the registry it must fail for want of it, and not find the package of the clone, which is not built.
    const failure = await promisify(execFile)(program, [...args, "--version"], {
      cwd: hosts.plugin,
      env: { ...process.env, npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0" },
    }).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(error),
    );
    expect(failure).to.match(/ECONNREFUSED|^\d+\.\d+\.\d+/);
  });

  async function server(): Promise<string[]> {
    const { mcpServers } = JSON.parse(await readFile(join(hosts.plugin, "mcp.json"), "utf8"));
    return [mcpServers.swank.command, ...mcpServers.swank.args];
  }

  it("are an extension for Gemini CLI, whose text says so: its exit code is 0 in any case", async () => {
    const text = await run("gemini", "extensions", "validate", ".");
    expect(text).to.match(/successfully validated/);
    expect(text).to.not.match(/error|warning|fail/i);
  });

  it("make a .mcpb file that mcpb reads, with every file that its manifest names", async () => {
    const unpacked = join(hosts.home, "unpacked");
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", PACK, hosts.home]);
    const path = stdout.trim();
    expect(await run("mcpb", "info", path)).to.include("swank-mcp");
    await run("mcpb", "unpack", path, unpacked);
    expect(await run("mcpb", "validate", join(unpacked, "manifest.json"))).to.include(
      "Manifest schema validation passes",
    );
    for (const file of ["bin/swank-mcp.js", "dist/program/swank-mcp.cjs", "LICENSE"])
      expect(existsSync(join(unpacked, file)), file).to.equal(true);
    await run("mcpb", "pack", unpacked, join(hosts.home, "packed.mcpb"));
  });
});
