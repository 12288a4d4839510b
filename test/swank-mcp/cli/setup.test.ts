import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { HOSTS } from "#swank-mcp/base/commands.js";
import { configPath, entryOf } from "#swank-mcp/setup/setup.js";
import { PROGRAM, ServerProcess } from "../../support/server-process.js";

describe("swank-mcp setup", () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "sétup home-"));
  });

  afterEach(() => rm(home, { recursive: true }));

  async function setup(...args: string[]) {
    const environment = { HOME: home, XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CODEX_HOME: "" };
    const program = new ServerProcess(["setup", ...args], environment);
    let output = "";
    program.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const { code } = await program.end();
    return { output: output + program.errorText, code };
  }

  function pathOf(host: (typeof HOSTS)[number]): string {
    return configPath(host, { environment: { HOME: home }, platform: process.platform });
  }

  it("makes the file of each client, which only its user can read, and says that a second time is needless", async () => {
    for (const host of HOSTS) {
      const made = await setup(host, "--attach", "4006");
      expect(made.code, made.output).to.equal(0);
      expect(made.output)
        .to.include(`${pathOf(host)} was made`)
        .and.include("--attach=4006");
      expect((await stat(pathOf(host))).mode & 0o777).to.equal(0o600);
      expect(await readFile(pathOf(host), "utf8")).to.include(JSON.stringify(PROGRAM));
      expect((await setup(host, "--attach", "4006")).output).to.equal(`${pathOf(host)} has this server already.\n`);
    }
  });

  it("writes nothing with --dry-run, and shows the lines", async () => {
    const { output, code } = await setup("cursor", "--dry-run");
    expect(code).to.equal(0);
    expect(output).to.match(/would be written:\n\n[\s\S]*\+ {5}"swank": \{\n/);
    expect(await readdir(home)).to.deep.equal([]);
  });

  it("keeps the mode of a file, the link that leads to it, and no draft", async () => {
    await mkdir(join(home, "dotfiles"));
    await mkdir(join(home, ".gemini"));
    const real = join(home, "dotfiles/settings.json");
    await writeFile(real, '{\n  // dark\n  "theme": "dark"\n}\n');
    await chmod(real, 0o640);
    await symlink(real, pathOf("gemini"));
    expect((await setup("gemini")).code).to.equal(0);
    expect(await readFile(real, "utf8"))
      .to.include("// dark")
      .and.include('"swank"');
    expect((await stat(real)).mode & 0o777).to.equal(0o640);
    expect(await readdir(join(home, "dotfiles"))).to.deep.equal(["settings.json"]);
    expect(await readdir(join(home, ".gemini"))).to.deep.equal(["settings.json"]);
  });

  it("does not touch a file that it cannot read, and shows the entry", async () => {
    await mkdir(join(home, ".codex"));
    await writeFile(pathOf("codex"), "model = \n");
    const { output, code } = await setup("codex");
    expect(code).to.equal(1);
    expect(output).to.include("is not TOML, so nothing was changed");
    expect(output).to.include("codex mcp add swank -- ").and.include("[mcp_servers.swank]\ncommand = ");
    expect(await readFile(pathOf("codex"), "utf8")).to.equal("model = \n");
  });

  it("names npx where npx runs it, because npx removes what it has fetched", () => {
    const fetched = "/home/me/.npm/_npx/1a2b/node_modules/.bin/swank-mcp";
    const { command, args } = entryOf(fetched, ["--read-only"]);
    expect([command, ...args].join(" ")).to.match(/^npx -y npm:swank-mcp@\d+\.\d+\.\d+\S* --read-only$/);
    expect(entryOf("/usr/bin/swank-mcp", [])).to.deep.equal({ command: "/usr/bin/swank-mcp", args: [] });
  });
});
