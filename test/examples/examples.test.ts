import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const FOLDER = new URL("../../../examples/", import.meta.url);

/** Lines of each example's output that show that it succeeded. */
const LANDMARKS: Readonly<Record<string, readonly string[]>> = {
  "agent-session.mjs": ["[ERROR] TYPE-ERROR", 'ITEM = (:NAME "milk")', "=> 10"],
  "debugging.mjs": ["=> (25 34 7)", "=> 157", "=> (:PAID :PAID)", "=> (:PAID :REFUSED)"],
  "own-call.mjs": ["; disassembly for", "true REQUEST_FAILED", "UNEXPECTED_REPLY", "REQUEST_TIMEOUT"],
  "evaluate.mjs": ["returned [ '3' ]", "stopped DIVISION-BY-ZERO", "1: (DIVIDE 0 0) A=0 B=0", "returned [ '0' ]"],
  "mcp-client.mjs": ["=> :DONE", "[ERROR] DIVISION-BY-ZERO", "Error: DIVISION-BY-ZERO", "=> 5"],
};

function run(file: string, args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
  // A landmark with colors would not be found.
  const options = { env: { ...process.env, FORCE_COLOR: "0", ...environment } };
  return promisify(execFile)(process.execPath, [fileURLToPath(new URL(file, FOLDER)), ...args], options);
}

describe("examples", () => {
  for (const [file, landmarks] of Object.entries(LANDMARKS)) {
    it(`${file} runs to its end`, async () => {
      const { stdout } = await run(file);
      for (const landmark of landmarks) expect(stdout).to.include(landmark);
    });
  }

  it("agent-session.mjs prints docs/session.md", async () => {
    const { stdout } = await run("agent-session.mjs");
    expect(await readFile(new URL("../docs/session.md", FOLDER), "utf8")).to.equal(stdout);
  });

  it("debugging.mjs prints the transcript in docs/debugging.md", async () => {
    const { stdout } = await run("debugging.mjs");
    const page = await readFile(new URL("../docs/debugging.md", FOLDER), "utf8");
    const said = (text: string) => text.split("\n").filter((line) => /^(> |#|[A-Z][a-z])/.test(line));
    // Thread numbers depend on the version of Swank.
    const withoutNumbers = (lines: string[]) => lines.map((line) => line.replace(/\d+/g, "N"));
    expect(withoutNumbers(said(page))).to.include.members(withoutNumbers(said(stdout)));
  }).timeout(120_000);

  it("debugging.mjs fails at an answer that its agent does not expect", async () => {
    const strict = { SWANK_MCP_APPROVAL: "strict" };
    const failed = await run("debugging.mjs", ["recursion"], strict).catch((error: unknown) => error);
    expect(failed).to.include({ code: 1 });
    expect(String(failed)).to.include("Wrong turn: debugger_eval_in_frame");
  });

  it("all have a test here", async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".mjs"));
    expect(Object.keys(LANDMARKS)).to.have.members(files);
  });
});
