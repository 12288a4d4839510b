import { PassThrough } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { HttpClient } from "./http-client.js";
import type { HttpAddress } from "./http-server.js";
import { readJsonLines } from "./json-lines.js";
import { McpDriver } from "./mcp-driver.js";

/** Milliseconds after which a message is taken for received, if its answer takes longer. */
const UNDERWAY = 20;

/** The driver of a session with an HTTP server: posts each message that it sends, and receives those in the answers. */
export class McpHttp extends McpDriver {
  readonly #client: HttpClient;
  readonly #received: PassThrough;
  #sent: Promise<unknown> = Promise.resolve();

  constructor(at: HttpAddress) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    super({ stdin, stdout });
    this.#client = new HttpClient(at);
    this.#received = stdout;
    // The server need not receive in order what is posted at once.
    readJsonLines<object>(stdin, (message) => {
      this.#sent = this.#sent.then(() => Promise.race([this.#post(message), setTimeout(UNDERWAY)]));
    });
  }

  /** Begins a session. */
  static async start(at: HttpAddress): Promise<McpHttp> {
    const driver = new McpHttp(at);
    await driver.initialize();
    return driver;
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await this.#client.delete();
    this.fail("the session was ended");
  }

  async #post(message: object): Promise<void> {
    try {
      const response = await this.#client.post(message);
      this.#client.session ??= response.headers.get("mcp-session-id") ?? undefined;
      void this.#receive(response).catch((error: Error) => this.fail(error.message));
    } catch (error) {
      this.fail(String(error));
    }
  }

  /** An answer is a stream of events or, if it is an error, JSON. */
  async #receive({ headers, body }: Response): Promise<void> {
    const prefix = headers.get("content-type")?.includes("text/event-stream") === true ? "data: " : "";
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of body ?? []) {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line, prefix);
    }
    this.#take(rest, prefix);
  }

  #take(line: string, prefix: string): void {
    if (line.length > prefix.length && line.startsWith(prefix)) this.#received.write(`${line.slice(prefix.length)}\n`);
  }
}
