import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";
import { lispWanted, serverArguments } from "../../../scripts/setup/start.mjs";

const PROGRAM = "node_modules/.bin/swank-mcp";

describe("npm start", function () {
  this.timeout(120_000);

  it("names at ,setup the same program as the README", async () => {
    const { stdout } = spawnSync(process.execPath, [inRepository("scripts/run.mjs"), "start", "console"], {
      input: ",setup\n",
      encoding: "utf8",
    });
    expect(stdout).to.include(`claude mcp add swank -- ${inRepository(PROGRAM)}\n`);
    expect(await readFile(inRepository("README.md"), "utf8")).to.include(
      `claude mcp add swank -- /path/to/${PROGRAM}\``,
    );
  });
});

describe("the Lisp that npm start installs", () => {
  it("is the default one, or the one that the arguments name", async () => {
    expect(await lispWanted([], {})).to.deep.equal({ lisp: undefined, swank: undefined });
    expect(await lispWanted(["console"], {})).to.deep.equal({ lisp: undefined, swank: undefined });
    expect(await lispWanted(["--lisp", "/opt/sbcl"], { SWANK_MCP_SWANK: "/opt/slime" })).to.deep.equal({
      lisp: "/opt/sbcl",
      swank: "/opt/slime",
    });
  });

  it("is none when the server launches none", async () => {
    for (const args of [["--attach"], ["--attach", "4006"], ["--help"], ["-h"], ["--version"], ["--no-such-option"]]) {
      expect(await lispWanted(args, {})).to.equal(undefined);
    }
    expect(await lispWanted([], { SWANK_MCP_ATTACH: "4005" })).to.equal(undefined);
  });
});

describe("the arguments of npm start", () => {
  it("start the console in a terminal by default", () => {
    expect(serverArguments([], true)).to.deep.equal(["console"]);
    expect(serverArguments(["--attach", "4005"], true)).to.deep.equal(["console", "--attach", "4005"]);
    expect(serverArguments(["serve"], true)).to.deep.equal(["serve"]);
    expect(serverArguments(["--attach", "console"], true)).to.deep.equal(["--attach", "console"]);
  });

  it("start the server when stdin is not a terminal", () => {
    expect(serverArguments([], false)).to.deep.equal([]);
    expect(serverArguments(["--attach", "4005"], false)).to.deep.equal(["--attach", "4005"]);
  });
});
