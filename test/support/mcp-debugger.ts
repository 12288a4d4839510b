import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import type { HttpAddress } from "./http-server.js";
import { transportOf } from "./mcp-client.js";
import { McpHttp } from "./mcp-http.js";
import { blocks } from "./mcp-results.js";
import { McpStdio } from "./mcp-stdio.js";

/** Answers the server's question with the message and the choices that a person would see. */
export type Answerer = (message: string, choices: readonly string[], signal: AbortSignal) => Promise<ElicitResult>;

export interface DebuggerOptions {
  readonly args?: readonly string[];
  /** Absent for a client without elicitation. */
  readonly answer?: Answerer;
  /** The HTTP server whose client it is. Absent for a server of its own. */
  readonly at?: HttpAddress;
}

const variable = z.object({
  name: z.string(),
  value: z.string(),
  object_id: z.number().optional(),
  argument: z.literal(true).optional(),
  shadowed: z.literal(true).optional(),
  unavailable: z.literal(true).optional(),
});
const frame = z.object({
  index: z.number(),
  function: z.string(),
  call: z.string(),
  methods: z.array(z.string()).optional(),
  source: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  locals: z.array(variable),
  locals_left_out: z.number().optional(),
});
const framesAnswer = z.strictObject({
  frames: z.array(frame),
  total_frames: z.number(),
  internal_left_out: z.number().optional(),
  outside_page: z.number().optional(),
  printed_from: z.string().optional(),
  thread: z.string(),
});
const breakpoint = z.object({
  id: z.number(),
  function: z.string(),
  hits: z.number(),
  state: z.string(),
  condition: z.string().optional(),
  log: z.string().optional(),
  logged: z.array(z.string()).optional(),
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
const frameOutcome = z.object({ "swank-mcp/outcome": z.object({ values: z.array(z.string()) }) });
const askedFor = z.object({ properties: z.object({ answer: z.object({ enum: z.array(z.string()) }) }) });

/** The installed server with a launched image, or a session with an HTTP server, and the SDK's client, which validates answers against the tools' schemas. */
export class McpDebugger {
  readonly client: Client;
  readonly #server: McpStdio | McpHttp;

  private constructor(client: Client, server: McpStdio | McpHttp) {
    this.client = client;
    this.#server = server;
  }

  static async start({ args = [], answer, at }: DebuggerOptions = {}): Promise<McpDebugger> {
    const server = at === undefined ? new McpStdio(args) : new McpHttp(at);
    const capabilities = answer === undefined ? {} : { elicitation: {} };
    const client = new Client({ name: "test", version: "0" }, { capabilities });
    if (answer !== undefined) answerWith(client, answer);
    await client.connect(transportOf(server));
    // After this call the client validates every answer, including refusals, against the output schemas.
    await client.listTools();
    return new McpDebugger(client, server);
  }

  /** Process id of the server. */
  get pid(): number | undefined {
    return this.#server instanceof McpStdio ? this.#server.process.pid : undefined;
  }

  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<CallToolResult> {
    const options = { timeout: 120_000, ...(signal === undefined ? {} : { signal }) };
    return CallToolResultSchema.parse(await this.client.callTool({ name, arguments: args }, undefined, options));
  }

  /** Returns the text blocks of evaluate-lisp's answer. */
  async evaluate(code: string, options: Record<string, unknown> = {}): Promise<string[]> {
    return blocks(await this.call("evaluate-lisp", { code, ...options }));
  }

  /** Returns the text blocks of a tool that resumes an evaluation. */
  async resume(name: string, args: Record<string, unknown> = {}): Promise<string[]> {
    const result = await this.call(name, args);
    expect(result, blocks(result).join("\n")).to.not.have.property("structuredContent");
    return blocks(result);
  }

  /** Returns the answer of a JSON tool, whose text must be the same JSON. */
  async json(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const result = await this.call(name, args);
    expect(result.isError, blocks(result).join("\n")).to.equal(false);
    expect(blocks(result)[0]).to.equal(JSON.stringify(result.structuredContent));
    return result.structuredContent ?? {};
  }

  async frames(args: Record<string, unknown> = {}): Promise<z.output<typeof framesAnswer>> {
    return framesAnswer.parse(await this.json("debugger_frames", args));
  }

  /** Returns the first frame whose call begins with `call`. */
  async frame(call: string, args: Record<string, unknown> = {}): Promise<z.output<typeof frame>> {
    const { frames } = await this.frames(args);
    const found = frames.find((candidate) => candidate.call.startsWith(call));
    if (found === undefined) throw new Error(`No frame ${call} among ${frames.map((each) => each.call).join(", ")}`);
    return found;
  }

  /** Returns all variables of the first frame whose call begins with `call`. */
  async locals(call: string, args: Record<string, unknown> = {}): Promise<z.output<typeof variable>[]> {
    const { index } = await this.frame(call, args);
    const answer = await this.json("debugger_frame_locals", { frame: index, ...args });
    return z.object({ locals: z.array(variable) }).parse(answer).locals;
  }

  /** Returns the printed values of an expression in a frame. */
  async valuesInFrame(index: number, code: string, args: Record<string, unknown> = {}): Promise<unknown> {
    const result = await this.call("debugger_eval_in_frame", { frame: index, code, ...args });
    expect(result.isError, blocks(result).join("\n")).to.equal(false);
    return frameOutcome.parse(result._meta)["swank-mcp/outcome"].values;
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

  /** Returns the stops as `thread/level`, the latest last. */
  async stops(): Promise<string[]> {
    const { stopped } = z
      .object({ stopped: z.array(z.object({ thread: z.string() })) })
      .parse(await this.json("lisp-status"));
    return stopped.map(({ thread }) => thread);
  }

  /** Returns a tool's refusal, whose data must have the contract's form and whose text must agree. */
  async refusal(
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<{ type: string; message: string; next: string }> {
    const result = await this.call(name, args);
    expect(result.isError, blocks(result).join("\n")).to.equal(true);
    const { message, data } = refusal.parse(result.structuredContent).error;
    expect(blocks(result)[0]).to.equal(`${message}\n${data.next}`);
    return { ...data, message };
  }

  /** Aborts every stop. */
  async abortAll(): Promise<void> {
    for (const thread of (await this.stops()).reverse())
      await this.call("debugger_invoke_restart", { restart: "ABORT", thread });
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** Returns the `thread/level` of the stop in a report. */
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
