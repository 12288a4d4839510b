import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  Server,
  type ServerContext,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { VERSION } from "../base/version.js";
import type { ToolCall } from "../call/run-call.js";
import type { Tool } from "../call/tool.js";
import type { Ask } from "../session/approval-places.js";
import { oneLine } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";
import { CHANNEL, Channel } from "./channel.js";
import { askThrough, canAsk, formOf, readReply } from "./elicitation.js";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./instructions.js";
import { ProgressReporter } from "./progress.js";
import { Resources, SKILLS, serveResources, serveSubscriptions, showsApps, withApp } from "./resources.js";
import { INTERNAL_ERROR, INVALID_PARAMS } from "./sent-message.js";
import { type CallRequest, type Round, SuspendedCalls } from "./suspended-calls.js";

const MAX_NAME = 300;

const infoSchema = z.object({ name: z.string(), version: z.string() });

/** A client's name and version, from `initialize` or from every request. */
export type ClientInfo = z.output<typeof infoSchema>;

/** The only revision in which every request names its own. */
const MODERN_REVISION = "2026-07-28";

/** Checks the revision of a request, which the SDK does only until a connection has its first call. @throws UnsupportedProtocolVersionError */
function checkRevision({ mcpReq }: ServerContext): void {
  const requested = envelope(mcpReq)[PROTOCOL_VERSION_META_KEY];
  if (requested === MODERN_REVISION) return;
  throw new UnsupportedProtocolVersionError({ supported: [MODERN_REVISION], requested: String(requested) });
}

/** Capabilities that a request of protocol revision 2026-07-28 names. */
function namedCapabilities({ mcpReq }: ServerContext): unknown {
  return envelope(mcpReq)[CLIENT_CAPABILITIES_META_KEY];
}

/** Client that a request of protocol revision 2026-07-28 names. */
function namedClient({ mcpReq }: ServerContext): ClientInfo | undefined {
  return infoSchema.safeParse(envelope(mcpReq)[CLIENT_INFO_META_KEY]).data;
}

export function clientText(client: ClientInfo | undefined): string {
  return oneLine(client === undefined ? "unnamed" : `${client.name} ${client.version}`, MAX_NAME);
}

function envelope({ envelope: given }: ServerContext["mcpReq"]): Readonly<Record<string, unknown>> {
  return { ...given };
}

const QUESTION = "approval";

interface SentCall {
  readonly name?: unknown;
  readonly arguments?: unknown;
}

/** Serves a call of a client of a protocol revision up to 2025: the server asks by its own requests while the call runs. */
function callAskingInside(
  connection: Connection,
  server: Server,
  call: SentCall,
  context: ServerContext,
): Promise<CallToolResult> {
  const isAble = connection.isQuiet !== true && canAsk(server.getClientCapabilities());
  const run = async (request: ToolCall) => toolResult(await connection.tools.call(request));
  return reported(connection, call, context, run, isAble ? askThrough(context) : undefined);
}

/** Serves a request of a client of protocol revision 2026-07-28, which asks its user between two requests for the same call. */
function callAskingBetween(
  connection: Connection,
  call: SentCall,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { tools, calls } = connection;
  return reported(connection, call, context, async (request) => {
    const state = context.mcpReq.requestState();
    if (typeof state === "string") return resumed(tools, calls, state, request, context);
    if (!canAsk(namedCapabilities(context))) return toolResult(await tools.call(request));
    return roundResult(await calls.begin(request));
  });
}

async function resumed(
  tools: ToolServer,
  calls: SuspendedCalls,
  state: string,
  request: CallRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    return roundResult(await calls.resume(state, readReply(context.mcpReq.inputResponses?.[QUESTION]), request));
  } catch (error) {
    return toolResult(tools.refuse(request, error));
  }
}

/** Runs a call, and reports its progress if the client wants it and can be sent anything before the answer. */
async function reported<T>(
  { isQuiet = false, lists }: Pick<Connection, "isQuiet" | "lists">,
  { name, arguments: args }: SentCall,
  { mcpReq }: ServerContext,
  run: (call: ToolCall) => Promise<T>,
  ask?: Ask,
): Promise<T> {
  const cancelling = new AbortController();
  const { signal } = cancelling;
  const cancel = () => cancelling.abort(mcpReq.signal.reason);
  mcpReq.signal.addEventListener("abort", cancel);
  if (mcpReq.signal.aborted) cancel();
  const progressToken = isQuiet ? undefined : mcpReq._meta?.progressToken;
  const progress =
    progressToken === undefined
      ? undefined
      : new ProgressReporter((note) =>
          mcpReq
            .notify({ method: "notifications/progress", params: { progressToken, ...note } })
            // The transport notices a client that has disconnected.
            .catch(() => undefined),
        );
  try {
    return await run({ name, args, signal, progress: (text) => progress?.add(text), ask });
  } finally {
    progress?.end();
    // The call may have shown what the image lacks.
    lists.compare();
    // Over HTTP, the SDK aborts its signal also after the answer. What outlives the call, such as a stop, must not end then.
    mcpReq.signal.removeEventListener("abort", cancel);
  }
}

function roundResult(round: Round): CallToolResult | InputRequiredResult {
  if (round.kind === "answered") return toolResult(round.answer);
  const { question, state } = round;
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(formOf(question)) },
    requestState: state,
  });
}

function toolResult({ blocks, isError, structured, meta }: ToolAnswer): CallToolResult {
  return {
    content: blocks.map((text) => ({ type: "text", text })),
    isError,
    ...(structured === undefined ? {} : { structuredContent: { ...structured } }),
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  };
}

export interface RequestError {
  readonly code: number;
  readonly message: string;
}

/**
 * The same error, or a clear one if it is the SDK's for parameters of a wrong shape: an internal error whose message is JSON, with the issues that
 * a schema has found.
 */
export function clearError<Given extends RequestError>(error: Given): Given | RequestError {
  const problems = error.code === INTERNAL_ERROR ? problemsIn(error.message) : [];
  if (problems.length === 0) return error;
  return { code: INVALID_PARAMS, message: `Invalid params: ${problems.join("; ")}.` };
}

function problemsIn(text: string): readonly string[] {
  if (!text.startsWith("[")) return [];
  try {
    const issues: unknown = JSON.parse(text);
    return Array.isArray(issues) ? issues.flatMap(problemOf) : [];
  } catch {
    return [];
  }
}

function problemOf(issue: unknown): readonly string[] {
  if (typeof issue !== "object" || issue === null || !("path" in issue) || !("message" in issue)) return [];
  const place = Array.isArray(issue.path) ? issue.path.join(".") : "params";
  return [`${place}: ${String(issue.message).replace(/^Invalid input: /, "")}`];
}

/** Why a request is refused that has the id of an open one. */
export const ID_IN_USE = "a request with this id is still in progress. Give every request its own id.";

export type Request = Extract<JSONRPCMessage, { readonly id: unknown; readonly method: string }>;

/**
 * A call whose name and arguments are inside `arguments`. The SDK would answer wrong ones with a protocol error that agents do not see; the tools
 * refuse them instead.
 */
export function hidden(message: Request): Request {
  const { name, arguments: args, ...rest }: Record<string, unknown> = message.params ?? {};
  const call: SentCall = { name, arguments: args };
  return { ...message, params: { ...rest, name: "", arguments: { ...call } } };
}

/**
 * How long a client may cache this server's answers, in milliseconds. The tools of an SBCL never change; another process may have other options.
 */
const KEPT = { ttlMs: 3_600_000, cacheScope: "private" } as const;

/** The same for the list of tools of an image that may lack some. */
const NOT_KEPT = { ...KEPT, ttlMs: 0 } as const;

export const MAX_SUBSCRIPTIONS = 16;

export interface ClientEvents {
  onClient?(client: ClientInfo | undefined): void;
  /** The client has listed the tools for the first time. A client that only probes the protocol revision does not. */
  onList?(): void;
}

export interface ConnectionEvents extends ClientEvents {
  onError(error: Error): void;
}

/** State that the servers of a connection share: a client may probe one protocol revision and then use another. */
export interface Connection {
  readonly tools: ToolServer;
  readonly calls: SuspendedCalls;
  /** True if the client takes nothing but answers: it is sent no progress, and asked nothing while a call runs. */
  readonly isQuiet?: boolean;
  /** The answer to `tools/list`. @param hasApp - Whether the host can show the app for stops. */
  list(hasApp: boolean): { readonly tools: readonly object[] };
  readonly resources: Resources;
  readonly channel: Channel;
  readonly lists: ListWatch;
  /** True if each request has a server of its own, which can send nothing by itself. */
  readonly isPerRequest?: boolean;
  /** Only the first client that a connection names counts. */
  onClient(client: ClientInfo | undefined): void;
  /** Only the first list counts. */
  onList(): void;
  onError(error: Error): void;
  close(): void;
}

export function connectionOf(tools: ToolServer, events: ConnectionEvents): Connection {
  const calls = new SuspendedCalls(tools);
  const resources = new Resources(tools);
  const channel = new Channel(tools);
  const lists = new ListWatch(tools);
  return {
    tools,
    calls,
    resources,
    channel,
    lists,
    list: (hasApp) => {
      lists.listed();
      return { tools: tools.usableTools.map((tool) => (hasApp ? withApp(tool.name, listed(tool)) : listed(tool))) };
    },
    onClient: once((client: ClientInfo | undefined) => events.onClient?.(client)),
    onList: once(() => events.onList?.()),
    onError: (error) => events.onError(error),
    close: () => {
      calls.close();
      resources.close();
      channel.close();
      lists.close();
    },
  };
}

/** Tells when the image turns out to lack what some of the tools need, and when another image has it. */
class ListWatch {
  readonly #tools: ToolServer;
  /** The names of the tools that the client knows to be usable, as one text. */
  #told: string;
  #onChange: (() => void) | undefined;
  #end: (() => void) | undefined;

  constructor(tools: ToolServer) {
    this.#tools = tools;
    this.#told = namesOf(tools.tools);
  }

  /** Calls the listener at each change. Only the first listener is called. */
  watch(onChange: () => void): void {
    if (this.#onChange !== undefined || !mayLackTools(this.#tools)) return;
    this.#onChange = onChange;
    this.#end = this.#tools.agent.host.onSession(() => this.compare());
  }

  /** The client has got the list. */
  listed(): void {
    this.#told = namesOf(this.#tools.usableTools);
  }

  /** Tells the listener if the list differs from what the client knows. While there is no image, nobody knows what the next one lacks. */
  compare(): void {
    if (this.#onChange === undefined || this.#tools.agent.host.state.kind !== "open") return;
    const usable = namesOf(this.#tools.usableTools);
    if (usable === this.#told) return;
    this.#told = usable;
    this.#onChange();
  }

  close(): void {
    this.#end?.();
  }
}

function namesOf(tools: readonly Tool[]): string {
  return tools.map(({ name }) => name).join(" ");
}

/** Whether the image may be no SBCL: the tools of one that is launched by default never change. */
function mayLackTools({ agent: { config } }: ToolServer): boolean {
  return config.attach !== undefined || config.lisp !== undefined || (process.env["SBCL"] ?? "") !== "";
}

/**
 * A server for the tools, in any protocol revision. It is the SDK's low-level server: the high-level one checks arguments and tool names itself,
 * and its errors name no remedy.
 */
export function createServer(tools: ToolServer, Kind = Server): Server {
  return new Kind(
    { name: "swank-mcp", title: "Common Lisp (Swank)", version: VERSION },
    {
      capabilities: {
        tools: mayLackTools(tools) ? { listChanged: true } : {},
        resources: { subscribe: true },
        prompts: {},
        extensions: { [SKILLS]: {} },
        ...(tools.agent.config.channel ? { experimental: { [CHANNEL]: {} } } : {}),
      },
      instructions: tools.guide.advise(tools.agent.config.readOnly ? READ_ONLY_INSTRUCTIONS : INSTRUCTIONS),
      jsonSchemaValidator: UNUSED_VALIDATOR,
      cacheHints: { "tools/list": mayLackTools(tools) ? NOT_KEPT : KEPT, "server/discover": KEPT },
      // The shim would replace failed questions by its own answers.
      inputRequired: { legacyShim: false },
    },
  );
}

/** Serves a client that names itself once, at `initialize`. */
export function serveLegacy(server: Server, connection: Connection): void {
  const { onClient, onList, list } = connection;
  const hasApp = () => showsApps(server.getClientCapabilities());
  server.setRequestHandler("tools/list", NO_PARAMS, () => {
    onList();
    return { ...list(hasApp()) };
  });
  serveResources(server, connection.resources, { hasApp });
  serveSubscriptions(server, connection.resources, connection.onError);
  server.oninitialized = () => {
    onClient(server.getClientVersion());
    openChannel(server, connection);
    if (connection.isQuiet !== true)
      connection.lists.watch(() => server.sendToolListChanged().catch(connection.onError));
  };
  server.setRequestHandler("tools/call", ({ params }, context) =>
    callAskingInside(connection, server, { ...params.arguments }, context),
  );
}

function openChannel(server: Server, { channel, onError }: Connection): void {
  channel.open((notification) => server.notification(notification).catch(onError));
}

/** Serves a client that names itself in every request. */
export function serveModern(server: Server, connection: Connection): void {
  const { list, onClient, onList } = connection;
  const meet = (context: ServerContext) => {
    checkRevision(context);
    onClient(namedClient(context));
    if (connection.isPerRequest !== true) openChannel(server, connection);
  };
  const hasApp = (context: ServerContext) => showsApps(namedCapabilities(context));
  serveResources(server, connection.resources, { meet, hasApp, kept: KEPT });
  server.setRequestHandler("tools/list", NO_PARAMS, (_params, context) => {
    meet(context);
    onList();
    return { ...list(hasApp(context)) };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    meet(context);
    return callAskingBetween(connection, { ...params.arguments }, context);
  });
}

const NO_PARAMS = { params: z.unknown() };

/** Replaces the SDK's JSON Schema validator, which slows every start and checks only elicitations that this server does not use. */
const UNUSED_VALIDATOR = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "not checked" }) as const,
};

function once<Args extends readonly unknown[]>(act: (...args: Args) => void): (...args: Args) => void {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    act(...args);
  };
}

function listed(tool: Tool): object {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema,
    annotations,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}
