import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
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

  it("does not touch a file that a new one could not replace as it is", async () => {
    await mkdir(join(home, ".cursor"));
    const path = pathOf("cursor");
    const expectKept = async (problem: string) => {
      const { output, code } = await setup("cursor");
      expect(code).to.equal(1);
      expect(output).to.include(`${path} ${problem}, so nothing was changed`).and.include('"swank"');
      expect(await readdir(join(home, ".cursor"))).to.deep.equal(["mcp.json"]);
    };
    const latin = Buffer.from('{ "note": "caf\xe9" }', "latin1");
    await writeFile(path, latin);
    await expectKept("is not UTF-8");
    expect(await readFile(path)).to.deep.equal(latin);
    await writeFile(path, "{}");
    await chmod(path, 0o444);
    await expectKept("is write-protected");
    expect(await readFile(path, "utf8")).to.equal("{}");
    await rm(path);
    await symlink(join(home, "missing.json"), path);
    await expectKept("is a link that leads nowhere");
    expect(await readlink(path)).to.equal(join(home, "missing.json"));
    await rm(path);
    await mkdir(path);
    await expectKept("is not a file");
  });

  it("passes on the options of the server, a page's, too, with the whole path of a program", async () => {
    const { output, code } = await setup("cursor", "--page", "--lisp", "./bin/sbcl", "--dry-run");
    expect(code, output).to.equal(0);
    expect(output)
      .to.include('"--page",')
      .and.include(`"--lisp=${resolve("bin/sbcl")}"`);
    expect((await setup("cursor", "--lisp", "sbcl", "--dry-run")).output).to.include('"--lisp=sbcl"');
  });

  it("names npx where npx runs it, because npx removes what it has fetched", () => {
    const fetched = "/home/me/.npm/_npx/1a2b/node_modules/.bin/swank-mcp";
    const { command, args } = entryOf(fetched, ["--read-only"]);
    expect([command, ...args].join(" ")).to.match(/^npx -y npm:swank-mcp@\d+\.\d+\.\d+\S* --read-only$/);
    expect(entryOf("/usr/bin/swank-mcp", [])).to.deep.equal({ command: "/usr/bin/swank-mcp", args: [] });
  });
});
