import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { testCache } from "./test-cache.js";

const BIN = fileURLToPath(new URL("../../../node_modules/.bin/swank-mcp", import.meta.url));

/** Keeps cores between test runs, because building one takes seconds. */
export const ENVIRONMENT = {
  SWANK_MCP_CACHE_DIR: testCache("swank-mcp"),
  SWANK_MCP_NO_USER_INIT: "1",
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** A call that was sent and can be awaited or cancelled. */
export interface SentCall {
  readonly id: number;
  readonly result: Promise<CallToolResult>;
}

/** The installed `swank-mcp` and a client that exchanges plain JSON over its standard streams. */
export class McpStdio {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<ServerExit>;
  /** Received messages that are not answers, oldest first. */
  readonly notifications: Message[] = [];
  #errorText = "";
  #lastId = 0;
  #exit: ServerExit | undefined;
  readonly #waiting = new Map<number, Waiting>();

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.process = spawn(BIN, args, { env: { ...process.env, ...ENVIRONMENT, ...environment } });
    this.exited = once(this.process, "close").then(([code, signal]) => this.#onExit({ code, signal }));
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#receive(JSON.parse(line)));
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText += text;
    });
    // Writing to a server that has ended fails; the reason is in its standard error.
    this.process.stdin.on("error", () => undefined);
  }

  /** Starts and initializes a server. */
  static async start(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    const server = new McpStdio(args, environment);
    const clientInfo = { name: "test", version: "0" };
    await server.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    server.send({ method: "notifications/initialized" });
    return server;
  }

  /** The server's standard error so far. */
  get errorText(): string {
    return this.#errorText;
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Sends a text, valid or not. */
  write(text: string): void {
    this.process.stdin.write(text);
  }

  async request(method: string, params: object): Promise<unknown> {
    return this.#sendRequest(method, params).result;
  }

  async call(name: string, args: object = {}): Promise<CallToolResult> {
    return this.startCall(name, args).result;
  }

  /** Returns the text blocks of evaluate-lisp's answer. */
  async evaluate(code: string, options: object = {}): Promise<string[]> {
    return blocks(await this.call("evaluate-lisp", { code, ...options }));
  }

  startCall(name: string, args: object = {}): SentCall {
    const id = this.#lastId + 1;
    const { result } = this.#sendRequest("tools/call", { name, arguments: args, _meta: { progressToken: id } });
    return { id, result: result.then((value) => CallToolResultSchema.parse(value)) };
  }

  /** Returns the image's process id from lisp-status. */
  async imagePid(): Promise<number> {
    const { structuredContent } = await this.call("lisp-status");
    const pid = structuredContent?.["pid"];
    if (typeof pid !== "number") throw new Error(`lisp-status gave no pid: ${JSON.stringify(structuredContent)}`);
    return pid;
  }

  /** Returns the first notification of this method, received already or not. */
  async notified(method: string): Promise<Message> {
    for (;;) {
      const found = this.notifications.find((message) => message.method === method);
      if (found !== undefined) return found;
      await once(this.process.stdout, "data");
    }
  }

  /** Ends the input and waits until the server has exited. */
  async end(): Promise<ServerExit> {
    this.process.stdin.end();
    return this.exited;
  }

  #sendRequest(method: string, params: object): { result: Promise<unknown> } {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      if (this.#exit !== undefined) reject(this.#endedEarly(method, this.#exit));
    });
    this.send({ id, method, params });
    return { result: answer.then(resultOf) };
  }

  #onExit(exit: ServerExit): ServerExit {
    this.#exit = exit;
    for (const { method, reject } of this.#waiting.values()) reject(this.#endedEarly(method, exit));
    return exit;
  }

  #endedEarly(method: string, { code, signal }: ServerExit): Error {
    return new Error(`The server ended (${code ?? signal}) before it answered ${method}: ${this.#errorText}`);
  }

  #receive(message: Message): void {
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (waiting === undefined || message.id === undefined) this.notifications.push(message);
    else {
      this.#waiting.delete(message.id);
      waiting.resolve(message);
    }
  }
}

/** Returns the text blocks of a result. */
export function blocks(result: CallToolResult): string[] {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));
}

function resultOf({ result, error }: Message): unknown {
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  return result;
}
