import {
  parseJSONRPCMessage,
  RELATED_TASK_META_KEY,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
import { lazily } from "../calls/lazily.js";
import type { Tool } from "../calls/tool.js";
import { VERSION } from "../process/version.js";
import type { ToolServer } from "../tools/tool-server.js";
import type { ReceivedCall } from "./direct-calls.js";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./instructions.js";
import { callAskingBetween, callAskingInside, receivedThroughSdk } from "./sdk-call.js";
import { type ClientInfo, canAsk, checkRevision, namedClient } from "./sdk-client.js";
import { CallWire, type WireEvents } from "./sdk-wire.js";
import { SuspendedCalls } from "./suspended-calls.js";
import type { Message } from "./transport/message.js";

/**
 * How long a client may cache this server's answers, in milliseconds. The tools never change during the life of the process; another
 * process may have other options.
 */
const KEPT = { ttlMs: 3_600_000, cacheScope: "private" } as const;

/** Most subscriptions that a client may have open at a time. Nothing is ever sent on them. */
const MAX_SUBSCRIPTIONS = 16;

/** A server that speaks MCP over one transport. */
export interface McpEndpoint {
  /** Stops listening and cancels running calls. */
  close(): Promise<void>;
}

export interface McpEvents extends WireEvents {
  /** A client has given its name and version. */
  onClient?(client: ClientInfo | undefined): void;
  /** The client has listed the tools for the first time. A client that only probes the protocol revision does not. */
  onList?(): void;
}

/**
 * Serves the tools over a transport, in the protocol revision that the client chooses. Only the files `sdk-*.ts` translate between the
 * SDK's types and this package's.
 *
 * They use the SDK's low-level server: the high-level one checks arguments and tool names itself, and its errors name no remedy.
 */
export function serveMcp(tools: ToolServer, transport: Transport, events: McpEvents): McpEndpoint {
  const calls = new SuspendedCalls(tools);
  const onClose = () => {
    calls.close();
    events.onClose();
  };
  const { onError } = events;
  const list = lazily(() => ({ tools: tools.tools.map(listed) }));
  const wire = new CallWire(transport, { onClose, onError });
  const connection: Connection = {
    tools,
    wire,
    calls,
    list,
    onClient: once((client: ClientInfo | undefined) => events.onClient?.(client)),
    onList: once(() => events.onList?.()),
  };
  const handle = serveStdio(
    ({ era }) => {
      const server = createServer(tools);
      server.onerror = (error) => onError(error);
      (era === "modern" ? serveModern : serveLegacy)(server, connection);
      return server;
    },
    {
      transport: wire,
      onerror: (error) => onError(error),
      maxSubscriptions: MAX_SUBSCRIPTIONS,
    },
  );
  return handle;
}

/** Whether the SDK accepts a message. It drops any other without an answer. */
export function isKnownMessage(message: Message): boolean {
  // The transport has checked all that the slow schema demands of such a message.
  if ("method" in message && !namesTask(message.params)) return true;
  try {
    parseJSONRPCMessage(message);
    return true;
  } catch {
    return false;
  }
}

function namesTask(params: object | undefined): boolean {
  const meta = params !== undefined && "_meta" in params ? params._meta : undefined;
  return typeof meta === "object" && meta !== null && RELATED_TASK_META_KEY in meta;
}

/** State that the servers of a connection share: a client may probe one protocol revision and then use another. */
interface Connection {
  readonly tools: ToolServer;
  readonly wire: CallWire;
  readonly calls: SuspendedCalls;
  list(): { readonly tools: readonly object[] };
  /** Only the first client that a connection names counts. */
  onClient(client: ClientInfo | undefined): void;
  /** Only the first list counts. */
  onList(): void;
}

function createServer(tools: ToolServer): Server {
  return new Server(
    { name: "swank-mcp", title: "Common Lisp (Swank)", version: VERSION },
    {
      capabilities: { tools: {} },
      instructions: tools.guide.advise(tools.agent.config.readOnly ? READ_ONLY_INSTRUCTIONS : INSTRUCTIONS),
      jsonSchemaValidator: UNUSED_VALIDATOR,
      cacheHints: { "tools/list": KEPT, "server/discover": KEPT },
      // The shim would replace failed questions by its own answers.
      inputRequired: { legacyShim: false },
    },
  );
}

/** Serves a client that names itself once, at `initialize`. */
function serveLegacy(server: Server, { tools, wire, onClient, onList, list }: Connection): void {
  server.setRequestHandler("tools/list", NO_PARAMS, () => {
    onList();
    return { ...list() };
  });
  const asks = rememberingLast(canAsk);
  const serve = (received: ReceivedCall) =>
    callAskingInside(tools, received, asks(server.getClientCapabilities()) ? server : undefined);
  // Calls that come earlier, for example together with `initialize`, wait in the SDK for its answer.
  server.oninitialized = () => {
    onClient(server.getClientVersion());
    wire.serveDirectly(serve);
  };
  server.setRequestHandler("tools/call", ({ params }, context) =>
    serve(receivedThroughSdk({ ...params.arguments }, context)),
  );
}

/** Serves a client that names itself in every request. */
function serveModern(server: Server, { tools, calls, list, onClient, onList }: Connection): void {
  const meet = (context: ServerContext) => {
    checkRevision(context);
    onClient(namedClient(context));
  };
  server.setRequestHandler("tools/list", NO_PARAMS, (_params, context) => {
    meet(context);
    onList();
    return { ...list() };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    meet(context);
    return callAskingBetween(tools, calls, { ...params.arguments }, context);
  });
}

const NO_PARAMS = { params: z.unknown() };

/** Replaces the SDK's JSON Schema validator, which slows every start and checks only elicitations that this server does not use. */
const UNUSED_VALIDATOR = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "not checked" }) as const,
};

/** Computes a result again only for another argument. */
function rememberingLast<Argument, Result>(compute: (argument: Argument) => Result): (argument: Argument) => Result {
  let last: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (last === undefined || last.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

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
