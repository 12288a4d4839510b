import { type Duplex, duplexPair } from "node:stream";
import { type McpEndpoint, OutputQueue, serveMcp, type ToolServer } from "swank-mcp";
import { type DriverOptions, McpDriver } from "./mcp-driver.js";

/** The driver of a server in this process, which reads and writes lines as the installed one does. */
export class McpInProcess extends McpDriver {
  /** Errors reported by the server's side of the connection. */
  readonly errors: Error[] = [];
  readonly #endpoint: McpEndpoint;
  readonly #client: Duplex;

  constructor(tools: ToolServer, options: DriverOptions = {}) {
    const [client, server] = duplexPair();
    super({ stdin: client, stdout: client }, options);
    this.#client = client;
    const onError = (error: Error) => this.errors.push(error);
    this.#endpoint = serveMcp(
      tools,
      { input: server, output: new OutputQueue(server), maxLine: 1_000_000 },
      { onClose: () => this.fail("the connection is closed."), onError },
    );
  }

  /** Connects a client of revision 2026-07-28; by default one that can ask the user. */
  static modern(tools: ToolServer, capabilities: object = { elicitation: { form: {} } }): McpInProcess {
    return new McpInProcess(tools, { revision: "2026-07-28", capabilities });
  }

  /** Ends the server's input. */
  endInput(): void {
    this.#client.end();
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.#endpoint.close();
  }
}
