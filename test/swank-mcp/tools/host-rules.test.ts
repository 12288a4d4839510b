import { expect } from "chai";
import { CATALOGUE, readConfig } from "swank-mcp";
import { FAMILIES } from "#swank-mcp/base/config.js";
import { HOST_RULES, type ListedTool } from "../../support/host-rules.js";

/** Command lines that change schemas. */
const COMMAND_LINES: readonly (readonly string[])[] = [
  [],
  ["--read-only"],
  ["--attach", "4005"],
  ["--on-error", "unwind"],
  ["--timeout", "5"],
  ["--approval", "strict"],
  ["--policy", "keep"],
  ...FAMILIES.map((family) => ["--tools", family]),
];

/** Tools of which each breaks one of the rules. */
const BREAKERS: readonly ListedTool[] = [
  { name: "top", inputSchema: { type: "object", anyOf: [{ required: ["a"] }] } },
  { name: "key", inputSchema: { type: "object", properties: { "uids[]": { type: "string" } } } },
  { name: "a".repeat(60), inputSchema: { type: "object" } },
  { name: "types", inputSchema: { type: "object", properties: { a: { type: ["string", "integer"] } } } },
  { name: "no-type", inputSchema: { type: "object", properties: { a: { anyOf: [{ type: "string" }] } } } },
  { name: "bound", inputSchema: { type: "object", properties: { a: { type: "number", exclusiveMinimum: 0 } } } },
  { name: "choices", inputSchema: { type: "object", properties: { a: { type: "string", enum: [""] } } } },
  { name: "items", inputSchema: { type: "object", properties: { a: { type: "array" } } } },
  { name: "pattern", inputSchema: { type: "object", properties: { a: { type: "string", pattern: "x" } } } },
  { name: "size", inputSchema: { type: "object", properties: { a: { type: "string", minLength: 1.5 } } } },
  { name: "required", inputSchema: { type: "object", properties: {}, required: ["a"] } },
  { name: "output", inputSchema: { type: "object" }, outputSchema: {} },
];

describe("the rules of hosts for tools", () => {
  for (const rule of HOST_RULES) {
    it(`are kept for ${rule.host}`, () => {
      for (const args of COMMAND_LINES) {
        const config = readConfig(args, {});
        const breaches = CATALOGUE.map((declared) => declared.for(config)).flatMap((tool) =>
          rule.breaches(tool).map((breach) => `${tool.name}: ${breach}`),
        );
        expect(breaches, args.join(" ")).to.deep.equal([]);
      }
    });

    it(`would be seen to be broken for ${rule.host}`, () => {
      expect(BREAKERS.flatMap((tool) => rule.breaches(tool))).to.not.be.empty;
    });
  }

  it("find each tool that breaks one", () => {
    for (const tool of BREAKERS)
      expect(
        HOST_RULES.flatMap((rule) => rule.breaches(tool)),
        tool.name,
      ).to.not.be.empty;
  });
});
