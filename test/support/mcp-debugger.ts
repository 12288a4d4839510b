import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import { texts } from "./mcp-client.js";

const BIN = fileURLToPath(new URL("../../../packages/swank-mcp/bin/swank-mcp.js", import.meta.url));

/** Answers what the server asks the user; the message and the choices are what a person would see. */
export type Answerer = (message: string, choices: readonly string[], signal: AbortSignal) => Promise<ElicitResult>;

export interface DebuggerOptions {
  readonly args?: readonly string[];
  /** Absent for a client without elicitation. */
  readonly answer?: Answerer;
}

const frame = z.object({
  index: z.number(),
  function: z.string(),
  call: z.string(),
  source: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  locals: z.array(z.object({ name: z.string(), value: z.string(), object_id: z.number() })),
  locals_left_out: z.number().optional(),
});
const framesAnswer = z.strictObject({
  frames: z.array(frame),
  total_frames: z.number(),
  thread: z.number(),
  level: z.number(),
});
const breakpoint = z.object({
  id: z.number(),
  function: z.string(),
  hits: z.number(),
  state: z.string(),
  condition: z.string().optional(),
  hit_count: z.number().optional(),
  thread: z.union([z.string(), z.number()]).optional(),
  warning: z.string().optional(),
});
const refusal = z.strictObject({
  error: z.strictObject({
    code: z.literal(-32000),
    message: z.string(),
    data: z.strictObject({ type: z.string(), next: z.string().min(10) }),
  }),
});
const askedFor = z.object({ properties: z.object({ answer: z.object({ enum: z.array(z.string()) }) }) });

/** The installed server on an image of its own, through the SDK's client, which checks what is answered against the tools' schemas. */
export class McpDebugger {
  readonly client: Client;
  readonly #transport: StdioClientTransport;

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.#transport = transport;
  }

  static async start({ args = [], answer }: DebuggerOptions = {}): Promise<McpDebugger> {
    const cache = join(tmpdir(), "swank-mcp-test-cache");
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "--no-user-init", "--cache-dir", cache, ...args],
    });
    const capabilities = answer === undefined ? {} : { elicitation: {} };
    const client = new Client({ name: "test", version: "0" }, { capabilities });
    if (answer !== undefined) answerWith(client, answer);
    await client.connect(transport);
    // From now on the client checks every answer, refusals included, against the output schemas.
    await client.listTools();
    return new McpDebugger(client, transport);
  }

  /** Process id of the server. */
  get pid(): number | null {
    return this.#transport.pid;
  }

  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<CallToolResult> {
    const options = { timeout: 120_000, ...(signal === undefined ? {} : { signal }) };
    return CallToolResultSchema.parse(await this.client.callTool({ name, arguments: args }, undefined, options));
  }

  /** The text blocks of evaluate-lisp's answer. */
  async evaluate(code: string, options: Record<string, unknown> = {}): Promise<string[]> {
    return texts(await this.call("evaluate-lisp", { code, ...options }));
  }

  /** The text blocks of a tool that resumes an evaluation. */
  async resume(name: string, args: Record<string, unknown> = {}): Promise<string[]> {
    const result = await this.call(name, args);
    expect(result, texts(result).join("\n")).to.not.have.property("structuredContent");
    return texts(result);
  }

  /** The answer of a JSON tool, which says the same in its text. */
  async json(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const result = await this.call(name, args);
    expect(result.isError, texts(result).join("\n")).to.equal(false);
    expect(texts(result)[0]).to.equal(JSON.stringify(result.structuredContent));
    return result.structuredContent ?? {};
  }

  async frames(args: Record<string, unknown> = {}): Promise<z.output<typeof framesAnswer>> {
    return framesAnswer.parse(await this.json("debugger_frames", args));
  }

  /** The first frame of a call that begins so. */
  async frame(call: string, args: Record<string, unknown> = {}): Promise<z.output<typeof frame>> {
    const { frames } = await this.frames(args);
    const found = frames.find((candidate) => candidate.call.startsWith(call));
    if (found === undefined) throw new Error(`No frame ${call} among ${frames.map((each) => each.call).join(", ")}`);
    return found;
  }

  /** Printed values of an expression in a frame. */
  async valuesInFrame(index: number, code: string, args: Record<string, unknown> = {}): Promise<unknown> {
    return (await this.json("debugger_eval_in_frame", { frame: index, code, ...args }))["values"];
  }

  async setBreakpoint(args: Record<string, unknown>): Promise<z.output<typeof breakpoint>> {
    return breakpoint.parse(await this.json("breakpoint_set", args));
  }

  async breakpoints(): Promise<z.output<typeof breakpoint>[]> {
    return z.object({ breakpoints: z.array(breakpoint) }).parse(await this.json("breakpoint_list")).breakpoints;
  }

  async removeBreakpoints(): Promise<void> {
    for (const { id } of await this.breakpoints()) await this.json("breakpoint_remove", { id });
  }

  /** `thread/level` of what is stopped, the latest last. */
  async stops(): Promise<string[]> {
    const { stopped } = z
      .object({ stopped: z.array(z.object({ thread: z.string() })) })
      .parse(await this.json("lisp-status"));
    return stopped.map(({ thread }) => thread);
  }

  /** What a tool refuses with: as data in the contract's form, and the same in words. */
  async refusal(
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<{ type: string; message: string; next: string }> {
    const result = await this.call(name, args);
    expect(result.isError, texts(result).join("\n")).to.equal(true);
    const { message, data } = refusal.parse(result.structuredContent).error;
    expect(texts(result)[0]).to.equal(`${message}\n${data.next}`);
    return { ...data, message };
  }

  /** Ends whatever is stopped. */
  async abortAll(): Promise<void> {
    for (const thread of (await this.stops()).reverse())
      await this.call("debugger_invoke_restart", { restart: "ABORT", thread });
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** `thread/level` of the stop that a report tells of. */
export function stopName(blocks: readonly string[]): string {
  const name = /thread (\d+\/\d+)/.exec(blocks.join("\n"))?.[1];
  if (name === undefined) throw new Error(`No stop is told of: ${blocks.join("\n")}`);
  return name;
}

function answerWith(client: Client, answer: Answerer): void {
  client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => {
    if (!("requestedSchema" in params)) throw new Error("A form was expected.");
    return answer(params.message, askedFor.parse(params.requestedSchema).properties.answer.enum, signal);
  });
}
