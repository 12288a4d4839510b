import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import type { AsyncCommand } from "fast-check";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import type { McpDriver } from "./mcp-driver.js";
import { blocks } from "./mcp-results.js";

/** The last error that the contract error-state-preservation requires: the answers right after the error, or nothing. */
export interface Model {
  error: Reading | undefined;
}

/** The answers of the two tools that read the last error. */
export interface Reading {
  readonly told: CallToolResult;
  readonly trace: CallToolResult;
}

/** What happens to the last error (design, "What sets and clears the last error"). */
export type Effect = "set" | "clear" | "keep";

/** An action of the agent or its environment. */
export interface Step<World> {
  /** The step's name in a counterexample. */
  readonly name: string;
  /** Executes the step and returns its expected effect. `report` is an evaluation's answer, which the last error must match. */
  run(world: World): Promise<{ readonly effect: Effect; readonly report?: CallToolResult | undefined }>;
}

/** Reads the last error with both tools. */
export async function readError(server: McpDriver): Promise<Reading> {
  return { told: await server.call("describe-last-error"), trace: await server.call("get-backtrace") };
}

/** Returns a command that executes the step and compares the last error with the model. */
export function command<World extends { readonly server: McpDriver }>(step: Step<World>): AsyncCommand<Model, World> {
  return {
    check: () => true,
    run: async (model, world) => {
      const { effect, report } = await step.run(world);
      const now = await readError(world.server);
      if (effect === "set") expectSet(now, report);
      if (effect === "clear") expectNothing(now);
      if (effect === "keep") expectKept(now, model.error);
      if (effect !== "keep") model.error = effect === "set" ? now : undefined;
      expect(await readError(world.server)).to.deep.equal(now);
    },
    toString: () => step.name,
  };
}

function expectNothing({ told, trace }: Reading): void {
  expect(told).to.deep.equal({ content: [{ type: "text", text: NO_ERROR }], isError: false });
  expect(trace).to.deep.equal(told);
}

function expectKept(now: Reading, before: Reading | undefined): void {
  if (before === undefined) expectNothing(now);
  else expect(now).to.deep.equal(before);
}

/** Expects the type and message of the report, and the same error from both tools. */
function expectSet({ told, trace }: Reading, report: CallToolResult | undefined): void {
  const [text = ""] = blocks(told);
  expect(text).to.match(/^Error: \S+\n/);
  expect(blocks(trace)[0]).to.not.equal(NO_ERROR);
  expect(trace._meta).to.deep.equal(told._meta);
  if (report === undefined) return;
  expect(report.isError).to.equal(true);
  const heading = /(?:^|\n)\[(?:ERROR|TIMEOUT)\] (\S+)\n(.*?)(?:\n\n\[Backtrace\]|$)/s.exec(blocks(report)[0] ?? "");
  const message = (heading?.[2] ?? "").replace(/^(?=.)/gm, "  ");
  expect(text.startsWith(`Error: ${heading?.[1]}\n${message}\n\nAvailable Restarts:\n`), text).to.equal(true);
}
