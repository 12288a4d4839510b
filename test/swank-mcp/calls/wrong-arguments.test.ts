import { expect } from "chai";
import { callTool, toolServer } from "../../support/mcp-server.js";

/** Wrong arguments of each tool. */
const WRONG: Readonly<Record<string, readonly object[]>> = {
  "apropos-search": [{}, { pattern: "" }, { package: "" }, { pattern: "a", kind: "verb" }, { pattern: "a", limit: 0 }],
  "class-info": [{}, { name: "" }, { name: "area", arguments: { of: "square" } }],
  "compile-code": [{}, { code: "1", file: "x" }],
  "describe-symbol": [{}, { name: "" }, { name: 7 }, { name: "car", pkg: "CL" }],
  "find-references": [
    { name: "car" },
    { mode: "callers" },
    { name: "car", mode: "users" },
    { name: "", mode: "callers" },
  ],
  "inspect-object": [
    { object: "17", frame: 0 },
    { object: "1", thread: "1" },
    { object: "1", part: "first" },
  ],
  "list-changes": [{ file: "" }, { file: 1 }, { text: "yes" }, { name: "x" }],
  "list-definitions": [{ type: "functions" }],
  "load-changes": [{ file: "" }, { file: 1 }, { text: true }, { timeout: 0 }],
  "load-system": [
    ...[{}, { system: "shop", file: "single.lisp" }, { file: "single.lisp", test: true }, { system: "" }, { file: "" }],
    ...[{ system: 1 }, { system: "shop", force: "yes" }, { system: "shop", test: 2 }, { system: "shop", timeout: 0 }],
    { system: "shop", forced: true },
  ],
  "macroexpand-form": [{ code: "(a)", mode: "twice" }],
  "save-changes": [{ name: "" }, { file: 1 }, { "dry-run": "no" }, { text: true }],
  "search-source": [{}, { pattern: "" }, { pattern: "a", system: "b", folder: "c" }],
  "show-source": [{}, { name: "car", file: "f" }, { name: "car", line: 3 }, { file: "f", line: 0 }, { name: " \n" }],
  outline: [{}, { system: "a", file: "b" }, { file: "a", foreign: true }, { system: "a", arglists: true }],
  "profile-code": [
    { mode: "time", seconds: 1 },
    { code: "1", seconds: 1 },
  ],
  debugger_frames: [{ thread: "main" }, { from: 1 }],
  debugger_frame_locals: [{}],
  debugger_eval_in_frame: [{ frame: 0 }, { frame: 1.5, code: "1" }],
  debugger_invoke_restart: [{ restart: 1, values: [{}] }],
  debugger_step: [{ mode: "sideways" }],
  debugger_continue: [{ timeout: 0 }],
  breakpoint_set: [{ function: "f", hit_count: 0 }],
  breakpoint_list: [{ id: 1 }],
};

/** Arguments that are numbers, and others that their tools need. */
const NUMBERS: readonly (readonly [tool: string, key: string, others: object])[] = [
  ["debugger_frames", "thread", {}],
  ["debugger_frame_locals", "thread", { frame: 0 }],
  ["debugger_eval_in_frame", "thread", { frame: 0, code: "1" }],
  ["debugger_restarts", "thread", {}],
  ["debugger_invoke_restart", "thread", { restart: 1 }],
  ["debugger_step", "thread", { mode: "into" }],
  ["debugger_continue", "thread", {}],
  ["breakpoint_set", "thread", { function: "car" }],
  ["debugger_frames", "start", {}],
  ["debugger_frame_locals", "frame", {}],
  ["debugger_invoke_restart", "restart", {}],
  ["breakpoint_remove", "id", {}],
];

describe("Wrong arguments are refused without Lisp", () => {
  const tools = toolServer(() => Promise.reject(new Error("Lisp was needed")));

  for (const [tool, wrong] of Object.entries(WRONG))
    it(`of ${tool}`, async () => {
      for (const args of wrong) {
        const { structured } = await callTool(tools, tool, args);
        expect(structured, JSON.stringify(args)).to.have.nested.property("error.data.type", "INVALID_ARGUMENTS");
      }
    });

  for (const [tool, key, others] of NUMBERS)
    it(`of ${tool} for ${key}: lists, objects, booleans and fractions`, async () => {
      for (const wrong of [[3, 1], {}, { [key]: 3 }, true, 1.5]) {
        const { structured, blocks } = await callTool(tools, tool, { ...others, [key]: wrong });
        expect(structured, JSON.stringify(wrong)).to.have.nested.property("error.data.type", "INVALID_ARGUMENTS");
        expect(blocks[0]).to.match(/ must be (a string or a whole number|a whole number( or a string)?), not /);
      }
    });
});
