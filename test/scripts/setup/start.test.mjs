import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";
import { lispWanted, serverArguments } from "../../../scripts/setup/start.mjs";

const PROGRAM = "node_modules/.bin/swank-mcp";

/** A process that would live for ever, its stdin being held open, but for `endWithParent`. */
const CHILD = `
  import { endWithParent } from ${JSON.stringify(pathToFileURL(inRepository("scripts/setup/start.mjs")).href)};
  endWithParent(20);
  process.stdin.resume();
  process.stdout.write("up");
`;
const STARTER = `
  const { spawn } = require("node:child_process");
  const [program, ...args] = JSON.parse(process.env.COMMAND);
  spawn(program, args, { stdio: "inherit" });
`;

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

describe("endWithParent", () => {
  const node = [process.execPath, "--input-type=module", "-e", CHILD];
  const commands = /** @type {[string, string[], NodeJS.Platform[]][]} */ ([
    ["directly", node, ["linux", "darwin"]],
    ["by a shell, as npm does,", ["sh", "-c", '"$0" "$@"; true', ...node], ["linux"]],
  ]);

  for (const [how, command, platforms] of commands) {
    if (!platforms.includes(process.platform)) continue;
    it(`ends a process started ${how} after its parent is killed`, async () => {
      const env = { ...process.env, COMMAND: JSON.stringify(command), npm_lifecycle_event: "start" };
      const starter = spawn(process.execPath, ["-e", STARTER], { stdio: ["pipe", "pipe", "inherit"], env });
      const [text] = await once(starter.stdout, "data");
      expect(String(text)).to.equal("up");
      starter.kill("SIGKILL");
      // Only when the last process that holds the pipe has ended does the stream close.
      await once(starter, "close");
      expect(starter.signalCode).to.equal("SIGKILL");
    });
  }
});
