import { expect } from "chai";
import { CATALOGUE, readConfig } from "swank-mcp";
import { FAMILIES } from "#swank-mcp/base/config.js";
import { readArguments } from "#swank-mcp/call/arguments.js";

/** The arguments that a tool reads. */
function read(name: string, given: unknown): unknown {
  const tool = CATALOGUE.find((declared) => declared.name === name)?.for(readConfig([], {}));
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return readArguments(given, name, tool.accepted);
}

describe("readArguments", () => {
  const understood: readonly (readonly [tool: string, given: unknown, read: unknown])[] = [
    // All arguments at once.
    ["evaluate-lisp", undefined, {}],
    ["evaluate-lisp", null, {}],
    ["evaluate-lisp", "", {}],
    ["evaluate-lisp", "{}", {}],
    ["evaluate-lisp", "null", {}],
    ["evaluate-lisp", [], {}],
    ["evaluate-lisp", '{"code": "5"}', { code: "5" }],
    ["evaluate-lisp", JSON.stringify('{"code":"5"}'), { code: "5" }],
    ["evaluate-lisp", '\ufeff{"code":"5"}', { code: "5" }],
    ["evaluate-lisp", [{ code: "5" }], { code: "5" }],
    ["evaluate-lisp", { arguments: { code: "5" } }, { code: "5" }],
    ["evaluate-lisp", { arguments: '{"code":"5"}' }, { code: "5" }],
    ["evaluate-lisp", { params: { name: "evaluate-lisp", arguments: { code: "5" } } }, { code: "5" }],
    ["show-source", { name: "show-source", arguments: { name: "car" } }, { name: "car" }],
    ["class-info", { arguments: { name: "integer", arguments: ["1"] } }, { name: "integer", arguments: ["1"] }],
    // Keys.
    ["get-backtrace", { max_frames: 5 }, { "max-frames": 5 }],
    ["get-backtrace", { maxFrames: 5 }, { "max-frames": 5 }],
    ["breakpoint_set", { FUNCTION: "car", "hit-count": "2" }, { function: "car", hit_count: 2 }],
    ["evaluate-lisp", { code: "1", _meta: {} }, { code: "1" }],
    // Former names.
    ["heap", { what: "path", object: 1 }, { mode: "path", object: 1 }],
    ["heap", { what: "Path", mode: "path" }, { mode: "path" }],
    ["heap", { mode: "path", what: null }, { mode: "path" }],
    ["heap", { mode: null, what: "path" }, { mode: "path" }],
    ["interrupt-thread", { thread: 3, Action: "kill" }, { thread: 3, mode: "kill" }],
    ["find-references", { arguments: '{"name":"car","kind":"callers"}' }, { name: "car", mode: "callers" }],
    ["apropos-search", { pattern: "x", kind: "macro" }, { pattern: "x", kind: "macro" }],
    ["profile-code", { what: "cpu" }, { what: "cpu" }],
    // Numbers.
    ["get-backtrace", { "max-frames": "5" }, { "max-frames": 5 }],
    ["get-backtrace", { "max-frames": "5.0" }, { "max-frames": 5 }],
    ["get-backtrace", { "max-frames": " 5 " }, { "max-frames": 5 }],
    ["evaluate-lisp", { code: "1", timeout: "2.5" }, { code: "1", timeout: 2.5 }],
    ["evaluate-lisp", { code: "1", timeout: ".5" }, { code: "1", timeout: 0.5 }],
    ["evaluate-lisp", { code: "1", timeout: "1e400" }, { code: "1", timeout: "1e400" }],
    ["debugger_frame_locals", { frame: "0", thread: 3 }, { frame: 0, thread: 3 }],
    // Booleans.
    ["apropos-search", { pattern: "x", regexp: "True" }, { pattern: "x", regexp: true }],
    ["apropos-search", { pattern: "x", regexp: " false " }, { pattern: "x", regexp: false }],
    ["apropos-search", { pattern: "x", regexp: 1 }, { pattern: "x", regexp: true }],
    ["evaluate-lisp", { code: "1", conditions: "true" }, { code: "1", conditions: true }],
    ["evaluate-lisp", { code: "1", conditions: "warning" }, { code: "1", conditions: "warning" }],
    // Lists.
    ["trace-calls", { functions: "car" }, { functions: ["car"] }],
    ["trace-calls", { functions: '["car", "cdr"]' }, { functions: ["car", "cdr"] }],
    ["trace-calls", { threads: ["1", 2] }, { threads: [1, 2] }],
    ["trace-calls", { threads: "[1, 2]" }, { threads: [1, 2] }],
    ["trace-calls", { threads: "7" }, { threads: [7] }],
    ["trace-calls", { threads: 7 }, { threads: [7] }],
    ["debugger_invoke_restart", { restart: 1, values: '"a"' }, { restart: 1, values: ['"a"'] }],
    ["debugger_invoke_restart", { restart: "1", values: ['["a"]'] }, { restart: "1", values: ['["a"]'] }],
    ["debugger_invoke_restart", { restart: 1, values: 42 }, { restart: 1, values: ["42."] }],
    ["class-info", { name: "pay", arguments: [1, -20, "x"] }, { name: "pay", arguments: ["1.", "-20.", "x"] }],
    // Choices.
    ["debugger_step", { mode: "Over" }, { mode: "over" }],
    ["list-definitions", { type: "generic_function" }, { type: "generic-function" }],
    // Left out.
    ["evaluate-lisp", { code: "1", package: null, timeout: null, conditions: null }, { code: "1" }],
    ["evaluate-lisp", { code: "1", package: "", timeout: "", output: "null", conditions: "" }, { code: "1" }],
    ["list-definitions", { type: "" }, {}],
    ["debugger_continue", { thread: "", timeout: "None" }, {}],
    ["trace-calls", { code: "1", functions: "", threads: "null" }, { code: "1" }],
    ["evaluate-lisp", { code: "1", unknown: null }, { code: "1" }],
    // What is a text stays exactly that text.
    ["evaluate-lisp", { code: "5" }, { code: "5" }],
    ["evaluate-lisp", { code: " 5 ", stdin: "" }, { code: " 5 ", stdin: "" }],
    ["evaluate-lisp", { code: '{"code":"5"}' }, { code: '{"code":"5"}' }],
    ["evaluate-lisp", { code: "null", stdin: "null" }, { code: "null", stdin: "null" }],
    ["evaluate-lisp", { code: "true", package: "null" }, { code: "true", package: "null" }],
    ["inspect-object", { object: '["a"]' }, { object: '["a"]' }],
    // What has several readings, or none, stays as it is.
    ["evaluate-lisp", { code: 5 }, { code: 5 }],
    ["evaluate-lisp", { code: null }, {}],
    ["macroexpand-form", { code: null }, { code: null }],
    ["evaluate-lisp", "(+ 1 2)", "(+ 1 2)"],
    ["evaluate-lisp", ["(+ 1 2)"], ["(+ 1 2)"]],
    ["evaluate-lisp", 5, 5],
    ["evaluate-lisp", { arguments: { code: "1" }, code: "2" }, { arguments: { code: "1" }, code: "2" }],
    ["show-source", { name: "car", arguments: {} }, { name: "car", arguments: {} }],
    ["get-backtrace", { "max-frames": 5, max_frames: 6 }, { "max-frames": 5, max_frames: 6 }],
    ["get-backtrace", { "max-frames": "five" }, { "max-frames": "five" }],
    ["apropos-search", { pattern: "x", regexp: "yes" }, { pattern: "x", regexp: "yes" }],
    ["trace-calls", { functions: "null" }, { functions: "null" }],
    ["debugger_invoke_restart", { restart: 1, values: [1.5, true] }, { restart: 1, values: [1.5, true] }],
    ["debugger_frame_locals", { frame: "" }, { frame: "" }],
    ["load-changes", { file: "" }, { file: "" }],
    ["evaluate-lisp", { code: "1", __proto__x: 1, constructor: 2 }, { code: "1", __proto__x: 1, constructor: 2 }],
  ];

  for (const [tool, given, expected] of understood) {
    it(`reads ${JSON.stringify(given)} for ${tool} as ${JSON.stringify(expected)}`, () => {
      expect(read(tool, given)).to.deep.equal(expected);
    });
  }
});

/** Keywords of a schema and of everything in it, except names of properties. */
function keywords(schema: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const each of schema) keywords(each, found);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    found.add(keyword);
    if (keyword === "type") expect(value, JSON.stringify(schema)).to.be.a("string");
    if (keyword === "properties") for (const property of Object.values(Object(value))) keywords(property, found);
    else if (keyword !== "default" && keyword !== "enum") keywords(value, found);
  }
  return found;
}

describe("the schemas of tools", () => {
  const simple = [
    "additionalProperties",
    "default",
    "description",
    "enum",
    "items",
    "maximum",
    "minLength",
    "minimum",
    "properties",
    "required",
    "type",
  ];
  const options: readonly (readonly string[])[] = [
    [],
    ["--read-only"],
    ["--on-error", "unwind"],
    ["--timeout", "5"],
    ["--approval", "strict"],
    ["--policy", "keep"],
    ["--attach", "4005"],
    ...FAMILIES.map((family) => ["--tools", family]),
  ];
  for (const args of options) {
    it(`use only keywords that every host knows, and one type each: ${args.join(" ") || "without options"}`, () => {
      const config = readConfig([...args], {});
      for (const tool of CATALOGUE.map((declared) => declared.for(config))) {
        expect(
          [...keywords(tool.inputSchema)].filter((keyword) => !simple.includes(keyword)),
          tool.name,
        ).to.deep.equal([]);
        for (const property of Object.values(tool.inputSchema.properties))
          expect(property, tool.name).to.have.property("type");
        if (tool.outputSchema !== undefined) keywords(tool.outputSchema);
      }
    });
  }

  it("have mode, and not its former names", () => {
    for (const [name, former] of [
      ["heap", "what"],
      ["interrupt-thread", "action"],
      ["find-references", "kind"],
    ] as const) {
      const tool = CATALOGUE.find((declared) => declared.name === name)?.for(readConfig([], {}));
      expect(tool?.inputSchema.properties).to.have.property("mode");
      expect(tool?.inputSchema.properties).to.not.have.property(former);
    }
    expect(() => read("heap", { mode: "summary", what: "path" })).to.throw("are one argument, but have two values");
  });

  it("reads 20000 unknown keys within a second", () => {
    const given = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));
    const began = performance.now();
    const result = read("evaluate-lisp", given);
    expect(performance.now() - began).to.be.lessThan(1000);
    expect(result).to.deep.equal(given);
  });
});
