import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { EXAMPLES, runExample, said } from "./run-example.js";

/** Lines of each example's output that show that it succeeded. */
const LANDMARKS: Readonly<Record<string, readonly string[]>> = {
  "agent-session.mjs": ["[ERROR] TYPE-ERROR", 'ITEM = (:NAME "milk")', "=> 10"],
  "debugging.mjs": [
    "=> (25 34 7)",
    "=> 157",
    "=> (:PAID :PAID)",
    "=> (:PAID :REFUSED)",
    "=> (:DONE :DONE)",
    "times as fast as against.",
  ],
  "own-call.mjs": ["; disassembly for", "true REQUEST_FAILED", "UNEXPECTED_REPLY", "REQUEST_TIMEOUT"],
  "evaluate.mjs": ["returned [ '3' ]", "stopped DIVISION-BY-ZERO", "1: (DIVIDE 0 0) A=0 B=0", "returned [ '0' ]"],
  "mcp-client.mjs": ["=> :DONE", "[ERROR] DIVISION-BY-ZERO", "Error: DIVISION-BY-ZERO", "=> 5"],
};

const outputs = new Map<string, Promise<string>>();

/** The output of an example that succeeds. It runs once for all tests that look at it. */
function outputOf(file: string): Promise<string> {
  const output = outputs.get(file) ?? successfulRun(file);
  outputs.set(file, output);
  return output;
}

async function successfulRun(file: string): Promise<string> {
  const { code, stdout, stderr } = await runExample(file);
  expect(code, stderr).to.equal(0);
  return stdout;
}

describe("examples", () => {
  for (const [file, landmarks] of Object.entries(LANDMARKS)) {
    it(`${file} runs to its end`, async () => {
      const stdout = await outputOf(file);
      for (const landmark of landmarks) expect(stdout).to.include(landmark);
      // the first ones start before there is a core, and compile what they use
    }).timeout(120_000);
  }

  it("agent-session.mjs prints docs/session.md", async () => {
    const stdout = await outputOf("agent-session.mjs");
    expect(await readFile(new URL("../docs/session.md", EXAMPLES), "utf8")).to.equal(stdout);
  });

  it("debugging.mjs prints the transcript in docs/debugging.md", async () => {
    const stdout = await outputOf("debugging.mjs");
    const page = await readFile(new URL("../docs/debugging.md", EXAMPLES), "utf8");
    expect(said(page)).to.include.members(said(stdout));
  }).timeout(120_000);

  it("debugging.mjs fails at an answer that its agent does not expect", async () => {
    const strict = { SWANK_MCP_APPROVAL: "strict" };
    const failed = await runExample("debugging.mjs", ["recursion"], { environment: strict });
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.include("Wrong turn: debugger_eval_in_frame");
  });

  it("all have a test here", async () => {
    const files = (await readdir(EXAMPLES)).filter((file) => file.endsWith(".mjs"));
    const hasOwnTest = (file: string) => existsSync(new URL(file.replace(/mjs$/, "test.js"), import.meta.url));
    expect(Object.keys(LANDMARKS)).to.have.members(files.filter((file) => !hasOwnTest(file)));
  });
});
