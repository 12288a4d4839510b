import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type McpEndpoint, serveMcp, type ToolServer } from "swank-mcp";
import * as z from "zod";

const VERSION = "2026-07-28";

const content = z.array(z.looseObject({ type: z.literal("text"), text: z.string() }));
const finished = z.looseObject({
  resultType: z.literal("complete"),
  content,
  isError: z.boolean(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});
const asking = z.strictObject({
  resultType: z.literal("input_required"),
  requestState: z.string(),
  inputRequests: z.strictObject({
    approval: z.strictObject({
      method: z.literal("elicitation/create"),
      params: z.looseObject({
        message: z.string(),
        requestedSchema: z.looseObject({
          properties: z.looseObject({ answer: z.looseObject({ enum: z.array(z.string()) }) }),
        }),
      }),
    }),
  }),
  _meta: z.looseObject({}).optional(),
});
const response = z.looseObject({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

export type Finished = z.output<typeof finished>;
export type Asking = z.output<typeof asking>;
export type ModernResponse = z.output<typeof response>;

/** The parts of a call's request that answer a question. */
export interface Answering {
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

/** A client of protocol revision 2026-07-28, connected to a server in this process, that can send any request. */
export class ModernPeer {
  /** Received messages that are not answers. */
  readonly notifications: unknown[] = [];
  readonly errors: Error[] = [];
  readonly #capabilities: object;
  readonly #side: InMemoryTransport;
  readonly #waiting = new Map<number, (message: ModernResponse) => void>();
  readonly #endpoint: McpEndpoint;
  #lastId = 0;

  constructor(tools: ToolServer, capabilities: object = { elicitation: { form: {} } }) {
    const [own, servers] = InMemoryTransport.createLinkedPair();
    this.#capabilities = capabilities;
    this.#side = own;
    own.onmessage = (message) => this.#receive(message);
    this.#endpoint = serveMcp(tools, servers, { onClose: () => {}, onError: (error) => this.errors.push(error) });
  }

  /** Sends a request unchanged and returns the response. */
  async sendRaw(method: string, params: Record<string, unknown>): Promise<ModernResponse> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<ModernResponse>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    await this.#side.send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  request(method: string, params: Record<string, unknown> = {}, meta: object = {}): Promise<ModernResponse> {
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientInfo": { name: "peer", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": this.#capabilities,
    };
    return this.sendRaw(method, { ...params, _meta: { ...envelope, ...meta } });
  }

  /** Calls a tool and returns its result, which must be complete. */
  async finish(name: string, args: object, answering: Answering = {}): Promise<Finished> {
    return finished.parse(await this.#call(name, args, answering));
  }

  /** Calls a tool and returns its question. */
  async ask(name: string, args: object, answering: Answering = {}): Promise<Asking> {
    return asking.parse(await this.#call(name, args, answering));
  }

  /** Cancels the latest request. */
  async cancel(): Promise<void> {
    const params = { requestId: this.#lastId };
    await this.#side.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }

  async close(): Promise<void> {
    await this.#endpoint.close();
  }

  async #call(name: string, args: object, answering: Answering): Promise<unknown> {
    const { result, error } = await this.request("tools/call", { name, arguments: args, ...answering });
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return result;
  }

  #receive(message: object): void {
    const parsed = response.safeParse(message);
    const resolve = parsed.success ? this.#waiting.get(parsed.data.id) : undefined;
    if (parsed.success && resolve !== undefined) resolve(parsed.data);
    else this.notifications.push(message);
  }
}

/** Returns an answer to a question, with the question's state. */
export function answered({ requestState }: Asking, answer: string): Answering {
  return { requestState, inputResponses: { approval: { action: "accept", content: { answer } } } };
}
