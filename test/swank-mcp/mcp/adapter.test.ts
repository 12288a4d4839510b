import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { SwankError } from "swank-client";
import { INSTRUCTIONS } from "#swank-mcp/mcp/instructions.js";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { connectInProcess, type McpClient } from "../../support/mcp-client.js";
import { blocks, refusalType } from "../../support/mcp-results.js";

describe("serveMcp with the SDK's client, without Lisp", () => {
  let mcp: McpClient;
  let attempts = 0;

  beforeEach(async () => {
    attempts = 0;
    mcp = await connectInProcess(async () => {
      attempts += 1;
      throw new SwankError("LISP_NOT_FOUND", "There is no sbcl here.");
    });
    // The client checks structured content against the output schemas only once it knows them.
    await mcp.client.listTools();
  });

  afterEach(() => mcp.close());

  it("gives instructions that clients do not truncate", () => {
    expect(mcp.client.getServerVersion()).to.include({ name: "swank-mcp", version: "0.1.0" });
    expect(mcp.client.getInstructions()).to.equal(INSTRUCTIONS);
    expect(INSTRUCTIONS.length).to.be.at.most(2048);
  });

  it("describes every tool, with schemas that allow no other arguments", async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.map((tool) => tool.name)).to.include.members([
      "evaluate-lisp",
      "describe-last-error",
      "get-backtrace",
    ]);
    for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
      expect(title, name).to.be.a("string").that.is.not.empty;
      expect(description?.length, name).to.be.within(20, 2048);
      expect(annotations, name).to.have.all.keys("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint");
      expect(inputSchema, name).to.deep.include({ type: "object", additionalProperties: false });
      expect(outputSchema?.["required"], name).to.equal(undefined);
    }
  });

  it("opens no Lisp for initialize and tools/list", () => {
    expect(attempts).to.equal(0);
  });

  it("reports the code and remedy if no Lisp can be opened, and tries again at the next call", async () => {
    for (const name of ["lisp-status", "evaluate-lisp"]) {
      const result = await mcp.call(name, name === "evaluate-lisp" ? { code: "1" } : {});
      expect(result.isError).to.equal(true);
      expect(blocks(result)).to.deep.equal(["There is no sbcl here.\nInstall SBCL or ECL, or name its executable."]);
      expect(result.structuredContent).to.deep.equal({
        error: {
          code: -32000,
          message: "There is no sbcl here.",
          data: { type: "LISP_NOT_FOUND", next: "Install SBCL or ECL, or name its executable." },
        },
      });
    }
    expect(attempts).to.equal(2);
  });

  it("reads the last error without a Lisp", async () => {
    for (const name of ["describe-last-error", "get-backtrace"]) {
      const result = await mcp.call(name);
      expect(blocks(result)).to.deep.equal([NO_ERROR]);
      expect(result).to.not.have.property("structuredContent");
      expect(result.isError).to.equal(false);
    }
    expect(attempts).to.equal(0);
  });

  it("suggests the tool with a similar name", async () => {
    const result = await mcp.call("evaluate_lisp", { code: "1" });
    expect(refusalType(result)).to.equal("UNKNOWN_TOOL");
    expect(blocks(result)[0]).to.equal('There is no tool "evaluate_lisp".\nDid you mean evaluate-lisp?');
  });

  it("lists the tools if no name is similar", async () => {
    expect(blocks(await mcp.call("frobnicate"))[0]).to.match(/\nCall one of: evaluate-lisp, /);
  });

  const SECONDS = "must be a number of seconds of at least 0.001 and at most 86400";
  const complaints: readonly [name: string, args: Record<string, unknown>, complaint: string][] = [
    ["evaluate-lisp", {}, 'The argument "code" is missing: it must be a string.'],
    ["evaluate-lisp", { code: 3 }, 'The argument "code" must be a string, not 3.'],
    [
      "class-info",
      { name: "pay", arguments: [true] },
      'The argument "arguments" must be a list of strings, not [true]. For true and false of Lisp, write "t" and "nil".',
    ],
    ["evaluate-lisp", { code: "1", pakage: "CL" }, 'There is no argument "pakage": did you mean "package"?'],
    ["evaluate-lisp", { code: "1", zzzzzzzz: 1 }, 'There is no argument "zzzzzzzz".'],
    ["evaluate-lisp", { code: "1", timeout: "soon" }, `${SECONDS}, not "soon".`],
    ["evaluate-lisp", { code: "1", timeout: 0 }, `${SECONDS}, not 0.`],
    ["evaluate-lisp", { code: "1", timeout: -1 }, `${SECONDS}, not -1.`],
    ["evaluate-lisp", { code: "1", timeout: 1e9 }, `${SECONDS}, not 1000000000.`],
    ["search-source", { pattern: "" }, 'The argument "pattern" must be a string that is not empty, not "".'],
    ["trace-calls", { threads: ["a"] }, 'The argument "threads" must be a list of whole numbers, not ["a"].'],
    ["evaluate-lisp", { code: "1", stdin: ["a"] }, 'The argument "stdin" must be a string, not ["a"].'],
    ["get-backtrace", { "max-frames": 0 }, "must be a whole number of at least 1 and at most 200, not 0."],
    ["get-backtrace", { "max-frames": -1 }, "must be a whole number of at least 1 and at most 200, not -1."],
    ["get-backtrace", { "max-frames": 1.5 }, "must be a whole number of at least 1 and at most 200, not 1.5."],
    ["get-backtrace", { maxframe: 5 }, 'There is no argument "maxframe": did you mean "max-frames"?'],
    ["describe-last-error", { code: "1" }, 'There is no argument "code".'],
  ];

  const oddCalls: readonly [params: Record<string, unknown>, complaint: string][] = [
    [{ name: "get-backtrace", arguments: [1] }, "get-backtrace: The arguments must be an object, not [1]."],
    [{ name: "get-backtrace", arguments: "x" }, 'get-backtrace: The arguments must be an object, not "x".'],
    [{ arguments: {} }, 'The tool\'s "name" is missing.'],
    [{ name: 5 }, 'The tool\'s "name" must be a string, not 5.'],
    [{}, 'The tool\'s "name" is missing.'],
  ];

  for (const [params, complaint] of oddCalls) {
    it(`refuses the malformed call ${JSON.stringify(params)} with a reason`, async () => {
      const result = await mcp.client.request({ method: "tools/call", params }, CallToolResultSchema);
      expect(refusalType(result)).to.equal("INVALID_ARGUMENTS");
      expect(blocks(result)[0]).to.include(complaint);
    });
  }

  for (const [name, args, complaint] of complaints) {
    it(`names the wrong argument of ${name} ${JSON.stringify(args)}`, async () => {
      const result = await mcp.call(name, args);
      expect(refusalType(result)).to.equal("INVALID_ARGUMENTS");
      expect(blocks(result)[0]).to.include(complaint);
      expect(blocks(result)[0]).to.match(/\nCorrect this and call again\. [a-z-]+ takes/);
    });
  }

  for (const code of ["", " \n\t", "; a comment", ";a\n;; b\n", "#| a #| nested |# |#", "#|a|#;b"]) {
    it(`refuses code without a form: ${JSON.stringify(code)}`, async () => {
      const result = await mcp.call("evaluate-lisp", { code });
      expect(refusalType(result)).to.equal("EMPTY_CODE");
      expect(attempts).to.equal(0);
    });
  }

  for (const code of ["a", "#|a|# b", ";a\nb", "#| never ends", "|#", '";"', "#;"]) {
    it(`leaves the check of the code to Lisp: ${JSON.stringify(code)}`, async () => {
      expect(refusalType(await mcp.call("evaluate-lisp", { code }))).to.equal("LISP_NOT_FOUND");
    });
  }

  it("reports its own defects as INTERNAL_ERROR", async () => {
    const broken = await connectInProcess(async () => {
      throw new TypeError("x is not a function");
    });
    const result = await broken.call("lisp-status");
    expect(refusalType(result)).to.equal("INTERNAL_ERROR");
    expect(blocks(result)[0]).to.match(/^The server failed: x is not a function\n/);
    await broken.close();
  });
});
