import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { fittingLine, withoutHome } from "#swank-mcp/doctor/finding.js";
import { compareVersions, TESTED, testedText } from "#swank-mcp/doctor/versions.js";
import { expectFacts } from "../../support/facts.js";
import { ServerProcess } from "../../support/server-process.js";

describe("swank-mcp doctor", () => {
  let home: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), "doctor-"));
  });

  after(() => rm(home, { recursive: true }));

  async function doctor(environment: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
    const program = new ServerProcess(["doctor", ...args], environment);
    let output = "";
    program.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const { code } = await program.end();
    return { output: output + program.errorText, code };
  }

  it("finds what the tests use, and exits with 0", async () => {
    const { output, code } = await doctor();
    expect(code, output).to.equal(0);
    expectFacts(
      output,
      "swank-mcp ",
      "ok      Node: ",
      "ok      SBCL: ",
      "ok      Swank: ",
      "All that the server needs",
    );
    expectFacts(output, "ok      Emacs: ", "ok      SLIME: ");
  });

  it("names ECL with its version, and what it cannot do", async () => {
    const { output, code } = await doctor({}, ["--lisp", "ecl"]);
    expect(code, output).to.equal(0);
    expect(output).to.match(/^ok {6}ECL: \d+\.\d+\.\d+, .*ecl\n {8}cannot: restart-frame, .*stepping/m);
    const heap = await doctor({}, ["--lisp", "ecl", "--dynamic-space-size", "512"]);
    expect(heap.code).to.equal(1);
    expectFacts(heap.output, "MISSING ECL: ", "mend: start swank-mcp without --dynamic-space-size");
    const none = await doctor({}, ["--lisp", join(home, "ecl")]);
    expectFacts(none.output, "MISSING ECL: There is no executable", "apt-get install ecl");
  });

  it("says what is missing and the line that mends it, and exits with 1", async () => {
    // Only Node is on this PATH.
    const environment = {
      PATH: dirname(process.execPath),
      HOME: home,
      SBCL: join(home, "no-sbcl"),
      SWANK: join(home, "none"),
    };
    const { output, code } = await doctor(environment);
    expect(code, output).to.equal(1);
    expectFacts(
      output,
      "MISSING SBCL: ",
      "mend: unset SBCL",
      "MISSING Swank: ",
      "mend: unset SWANK",
      "Missing: SBCL, Swank.",
    );
  });

  it("says where nothing is found a whole sentence, and a line that this user can run", async () => {
    const environment = { PATH: dirname(process.execPath), HOME: home, XDG_DATA_DIRS: home };
    const { output } = await doctor({ ...environment, SBCL: "", SWANK: "", CL_SOURCE_REGISTRY: "" });
    expect(output).to.match(/^MISSING Swank: No Swank was found\.\n {8}mend: /m);
    if (process.getuid?.() === 0) expect(output).not.to.include("sudo");
  });

  it("tells neither the home folder nor a secret, and who can read a secret", async () => {
    await writeFile(join(home, ".slime-secret"), "s3cr3t\n");
    await chmod(join(home, ".slime-secret"), 0o644);
    const environment = { HOME: home, SWANK_MCP_SECRET_FILE: "/x/private", SWANK_MCP_CACHE_DIR: join(home, "cache") };
    const { output } = await doctor(environment);
    expect(output).not.to.include(home).and.not.include("s3cr3t").and.not.include("/x/private");
    expectFacts(
      output,
      "~/cache is made when it is needed",
      "WRONG",
      "~/.slime-secret",
      "mend: chmod 600 ~/.slime-secret",
    );
    expectFacts(output, "SWANK_MCP_CACHE_DIR", "SWANK_MCP_SECRET_FILE");
  });

  it("names a cache that others can write", async () => {
    const cache = join(home, "open cache");
    await mkdir(cache);
    await chmod(cache, 0o777);
    const { output, code } = await doctor({ HOME: home }, ["--cache-dir", cache]);
    expect(code).to.equal(0);
    expectFacts(output, "WRONG   Cache: ~/open cache can be written by other users", "mend: rm -r ~/'open cache'\n");
  });

  it("names a cache that others can replace, which rm would not mend", async () => {
    const open = join(home, "open");
    await mkdir(join(open, "cache"), { recursive: true, mode: 0o700 });
    await chmod(open, 0o777);
    const { output } = await doctor({ HOME: home }, ["--cache-dir", join(open, "cache")]);
    expectFacts(output, "WRONG   Cache: ~/open/cache cannot be used: ~/open, which leads to it", "--cache-dir");
    expect(output).not.to.include("rm -r");
  });

  it("says of programs that fail that they do, and not that they are not installed", async () => {
    const folder = await mkdtemp(join(home, "bin-"));
    for (const name of ["sbcl", "emacs"]) await writeFile(join(folder, name), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
    const { output, code } = await doctor({ PATH: `${folder}:${process.env["PATH"]}` });
    expect(code).to.equal(1);
    expectFacts(output, "MISSING SBCL: ", "cannot be used", "mend: start swank-mcp with --lisp", "WRONG   Emacs: ");
    expect(output).not.to.match(/install sbcl|Emacs: none/);
    const named = await doctor({ SBCL: join(folder, "sbcl") });
    expectFacts(named.output, "MISSING SBCL: ", "mend: unset SBCL");
  });

  it("says nothing of a port of another machine", async () => {
    const { output } = await doctor({}, ["--attach", "lisp.example:4006"]);
    expect(output).to.include("-       Port 4006: on another machine, so not looked at");
  });

  it("says which port is in use, without connecting to it", async () => {
    let visits = 0;
    const server = createServer(() => {
      visits += 1;
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const { output } = await doctor({}, ["--attach", String(port)]);
    expect(output).to.include(`-       Port ${port}: in use`);
    expect(visits).to.equal(0);
    server.close();
    await once(server, "close");
    const missing = await doctor({}, ["--attach", String(port)]);
    expectFacts(missing.output, `MISSING Image at port ${port}: nothing listens there`, "Missing: Image at port");
    expect(missing.code).to.equal(1);
  });
});

describe("the findings of doctor", () => {
  it("take the line of a remedy that fits the machine", () => {
    const remedy =
      "Install it:\n  Debian, Ubuntu:  sudo apt-get install x\n  Homebrew:        brew install x\n  else:  git clone x";
    expect(fittingLine(remedy, (name) => name === "brew")).to.equal("brew install x");
    expect(fittingLine(remedy, (name) => name === "apt-get")).to.equal("sudo apt-get install x");
    expect(fittingLine(remedy, () => false)).to.equal("git clone x");
    expect(fittingLine("Do this.", () => true)).to.equal("Do this.");
  });

  it("hide the longest of several paths of the home folder first", () => {
    expect(withoutHome("/home/me/x /real/home/me/y", ["/home/me", "/real/home/me", "/"])).to.equal("~/x ~/y");
    expect(withoutHome("/home/me /home/me/x /home/me2 rm -r '/home/me/a b'", ["/home/me/"])).to.equal(
      "~ ~/x /home/me2 rm -r ~/'a b'",
    );
    expect(withoutHome("rm -r '/home/o'\\''b/c'", ["/home/o'b"])).to.equal("rm -r ~/'c'");
  });

  it("compare versions by their numbers, and name those of docs/compatibility.md as tested", async () => {
    expect(compareVersions("2.10.0", "2.9")).to.be.above(0);
    expect(compareVersions("2.2.9.debian", "2.2.9")).to.equal(0);
    expect(testedText("2.2.9.debian", TESTED.sbcl)).to.equal("tested");
    expect(testedText("2.2.90", TESTED.sbcl)).to.match(/^not tested; tested are /);
    const page = await readFile(new URL("../../../../docs/compatibility.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| \w[\w-]+ \| ([\d.]+)\S* \| ([\d.]+)\S* \| /gm)];
    const plain = (text = "") => text.replace(/\.$/, "");
    expect([...new Set(rows.map(([, sbcl]) => plain(sbcl)))]).to.have.members([...TESTED.sbcl]);
    expect([...new Set(rows.map(([, , swank]) => plain(swank)))]).to.have.members([...TESTED.swank]);
    for (const version of [...TESTED.node, ...TESTED.emacs]) expect(page).to.include(`| ${version}`);
  });
});
