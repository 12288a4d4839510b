import { duplexPair } from "node:stream";
import { isKnownMessage, LineTransport, type McpEndpoint, OutputQueue, serveMcp, type ToolServer } from "swank-mcp";
import { type DriverOptions, McpDriver } from "./mcp-driver.js";

/** The driver of a server in this process, which reads and writes lines as the installed one does. */
export class McpInProcess extends McpDriver {
  /** Errors reported by the server's side of the connection. */
  readonly errors: Error[] = [];
  readonly #endpoint: McpEndpoint;

  constructor(tools: ToolServer, options: DriverOptions = {}) {
    const [client, server] = duplexPair();
    super({ stdin: client, stdout: client }, options);
    const transport = new LineTransport({
      input: server,
      output: new OutputQueue(server),
      maxLine: 1_000_000,
      isKnown: isKnownMessage,
      onEnd: () => {},
    });
    const onError = (error: Error) => this.errors.push(error);
    this.#endpoint = serveMcp(tools, transport, { onClose: () => this.fail("the connection is closed."), onError });
  }

  /** Connects a client of revision 2026-07-28; by default one that can ask the user. */
  static modern(tools: ToolServer, capabilities: object = { elicitation: { form: {} } }): McpInProcess {
    return new McpInProcess(tools, { revision: "2026-07-28", capabilities });
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.#endpoint.close();
  }
}
