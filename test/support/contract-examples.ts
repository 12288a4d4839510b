import { expect } from "chai";
import type { McpDebugger } from "./mcp-debugger.js";
import type { McpDriver } from "./mcp-driver.js";
import { blocks } from "./mcp-results.js";
import { chosen, type McpUser } from "./mcp-user.js";

/** Returns the text blocks of describe-symbol's answer, which must not be an error. */
export async function described(
  server: Pick<McpDriver, "call">,
  name: string,
  packageName?: string,
): Promise<string[]> {
  const result = await server.call(
    "describe-symbol",
    packageName === undefined ? { name } : { name, package: packageName },
  );
  expect(result.isError).to.equal(false);
  expect(result).to.not.have.property("structuredContent");
  return blocks(result);
}

/** Calls describe-symbol as its contract does. */
export async function expectSymbolExamples(server: Pick<McpDriver, "call">): Promise<void> {
  const [mapcar, ...more] = await described(server, "mapcar", "CL");
  expect(mapcar).to.match(
    /^COMMON-LISP::MAPCAR \[FUNCTION\]\n {2}Arglist: \(FUNCTION LIST &REST MORE-LISTS\)\n {2}Documentation:\n {4}Apply FUNCTION to successive tuples of elements of LIST and MORE-LISTS\.\n {4}Return list of FUNCTION return values\.\n {2}Source: SYS:SRC;CODE;LIST\.LISP:\d+$/,
  );
  // Only if SBCL's sources are installed, the line is known.
  const [place, ...offset] = more.join("\n").split("\n");
  expect(place).to.equal("HyperSpec: http://www.lispworks.com/documentation/HyperSpec/Body/f_mapc_.htm");
  if (offset.length > 0)
    expect(offset[0]).to.match(/^\d+ is the character offset in SYS:SRC;CODE;LIST\.LISP; its line is unknown/);
  expect((await described(server, "*print-base*", "CL"))[0]).to.match(
    /^COMMON-LISP::\*PRINT-BASE\* \[VARIABLE\]\n {2}Value: 10\n {2}Documentation:\n {4}The output base for RATIONALs/,
  );
  expect(await described(server, "nonexistent-symbol")).to.deep.equal([
    "Symbol NONEXISTENT-SYMBOL not found in package CL-USER (status: NIL)",
  ]);
  expect(await described(server, "foo", "NONEXISTENT")).to.deep.equal(["Package NONEXISTENT not found"]);
}

/** Asks the user as the contract does. @param agent - how the question names the agent */
export async function expectApprovalExample(lisp: McpDebugger, user: McpUser, agent = "AI agent"): Promise<void> {
  await lisp.evaluate("(f 3)");
  user.answers = [chosen("Yes")];
  expect(await lisp.valuesInFrame(0, "(type-of x)")).to.deep.equal(["(INTEGER 0 4611686018427387903)"]);
  expect(user.asked).to.deep.equal([
    {
      message: `${agent} wants to evaluate code in frame #0:\nCode: (type-of x)\n\nAllow? [Yes/No/Show Code] Timeout: 60s`,
      choices: ["Yes", "No", "Show Code", "Yes, for this stop"],
    },
  ]);
}
