import type { Looks } from "../../../src/page/model.js";

/** The revision of MCP Apps that the app speaks. */
const PROTOCOL = "2026-01-26";

const METHOD_NOT_FOUND = -32601;

/** The answer of a tool, as far as the app reads it. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Structured;
  readonly _meta?: { readonly "swank-mcp/outcome"?: Outcome; readonly "swank-mcp/object"?: ObjectData };
  readonly isError?: boolean;
}

/** The data of the tools that answer in JSON, and of refusals. */
interface Structured {
  readonly error?: { readonly message?: string; readonly data?: { readonly type?: string; readonly remedy?: string } };
  /** `thread/level` of a stop. */
  readonly thread?: string;
  readonly restarts?: readonly { readonly index: number; readonly name: string; readonly description: string }[];
  readonly frames?: readonly FrameData[];
  readonly total_frames?: number;
  readonly locals?: readonly VariableData[];
  readonly stopped?: readonly {
    readonly thread: string;
    readonly type: string;
    readonly message: string;
    readonly since?: string;
    readonly owner?: string;
  }[];
}

export interface FrameData {
  readonly index: number;
  readonly call: string;
  readonly source?: { readonly file?: string; readonly line?: number; readonly form?: string };
}

/** A variable; its marks are keys that are true. */
export interface VariableData {
  readonly name: string;
  readonly value: string;
  readonly object_id?: number;
  readonly [mark: string]: string | number | boolean | undefined;
}

/** How an evaluation has ended, or where it is stopped. */
export interface Outcome {
  readonly status?: string;
  readonly thread?: number;
  readonly level?: number;
  readonly stop?: { readonly reason?: "error" | "break" | "breakpoint" | "step" | "interrupt" };
  readonly error?: {
    readonly type: string;
    readonly message: string;
    readonly timestamp?: number;
    readonly slots?: readonly { readonly name: string; readonly value: string }[];
  };
}

type ObjectView = Looks["object"]["result"];

/** An object. What is cut may lack some data. */
type ObjectData = Pick<ObjectView, "id" | "kind" | "text"> & Partial<ObjectView>;

interface HostContext {
  readonly theme?: "light" | "dark";
}

/** JSON of the host, in the shape that the protocol says. */
type Sent = MessageEvent["data"];

/** What the host tells the app. */
export interface HostListeners {
  /** The call that the app is shown for has this answer. */
  onResult(result: ToolResult): void;
  /** That call was cancelled. */
  onCancelled(): void;
}

interface Waiting {
  resolve(result: Sent): void;
  reject(error: Error): void;
}

/** The program around the app, which calls the server's tools for it. They exchange JSON-RPC by messages between windows. */
export class Host {
  readonly #listeners: HostListeners;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(listeners: HostListeners) {
    this.#listeners = listeners;
    addEventListener("message", ({ data, source }: MessageEvent) => {
      if (source === parent && data?.jsonrpc === "2.0") this.#take(data);
    });
  }

  /** Tells the host that the app is ready, which then sends the answer. */
  async begin(): Promise<void> {
    const { hostContext } = await this.#request<{ readonly hostContext?: HostContext }>("ui/initialize", {
      appInfo: { name: "swank-mcp-stop", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL,
    });
    showTheme(hostContext);
    this.#notify("ui/notifications/initialized", {});
    new ResizeObserver(() => {
      const { scrollWidth: width, scrollHeight: height } = document.body;
      this.#notify("ui/notifications/size-changed", { width, height });
    }).observe(document.body);
  }

  /** Calls a tool of the server. The user may be asked whether it may run. */
  callTool(name: string, args: object): Promise<ToolResult> {
    return this.#request("tools/call", { name, arguments: args });
  }

  /** Tells the agent, with its next turn, what the person has done. A host may ignore it. */
  async tellAgent(text: string): Promise<void> {
    await this.#request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => undefined);
  }

  #request<Result>(method: string, params: object): Promise<Result> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ id, method, params });
    });
  }

  #notify(method: string, params: object): void {
    this.#post({ method, params });
  }

  #post(message: object): void {
    // The host may have any origin.
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #take({ id, method, params, result, error }: Sent): void {
    if (method === undefined) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(String(error.message)));
    } else if (method === "ui/notifications/tool-result") this.#listeners.onResult(params);
    else if (method === "ui/notifications/tool-cancelled") this.#listeners.onCancelled();
    else if (method === "ui/notifications/host-context-changed") showTheme(params);
    else if (method === "ui/resource-teardown" || method === "ping") this.#post({ id, result: {} });
    else if (id !== undefined) this.#post({ id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } });
  }
}

/** Shows the app as light or dark as the host is. */
function showTheme(context: HostContext | undefined): void {
  if (context?.theme !== undefined) document.documentElement.style.setProperty("color-scheme", context.theme);
}
