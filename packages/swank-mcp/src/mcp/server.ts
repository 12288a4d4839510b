import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
  Server,
  type ServerContext,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { VERSION } from "../base/version.js";
import type { ToolCall } from "../call/run-call.js";
import { lazily, type Tool } from "../call/tool.js";
import type { Ask, Question, Reply } from "../session/approval-places.js";
import { cutStart, oneLine } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./instructions.js";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from "./sent-message.js";
import type { ServedSkill } from "./skills.js";
import { type CallRequest, type Round, SuspendedCalls } from "./suspended-calls.js";

/** Shortest and longest interval between two notifications, in milliseconds. */
const TICK = 500;

const HEARTBEAT = 5000;

/** Most characters of output in one notification, which has the latest. */
const MAX_TEXT = 500;

/** The content of a notification. */
interface ProgressNote {
  /** Seconds since the call began. MCP requires a value that grows with every notification. */
  readonly progress: number;
  readonly message: string;
}

/**
 * Sends a client the latest output of a call, at most twice a second. Without output it reports every few seconds that the call still runs:
 * a client without progress may time out.
 */
class ProgressReporter {
  readonly #send: (note: ProgressNote) => Promise<void>;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #fresh = "";
  #lastNote = 0;

  /** True until the client has taken the previous notification. No other is sent until then. */
  #isSending = false;

  constructor(send: (note: ProgressNote) => Promise<void>) {
    this.#send = send;
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  /** Adds new output. */
  add(text: string): void {
    this.#fresh = cutStart(this.#fresh + text, MAX_TEXT, "");
  }

  /** Stops the notifications. */
  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#isSending) return;
    const elapsed = performance.now() - this.#began;
    if (this.#fresh === "" && elapsed - this.#lastNote < HEARTBEAT) return;
    const seconds = elapsed / 1000;
    const message = this.#fresh.trim() || `Running for ${Math.round(seconds)} s.`;
    this.#fresh = "";
    this.#lastNote = elapsed;
    this.#isSending = true;
    void this.#send({ progress: seconds, message }).finally(() => {
      this.#isSending = false;
    });
  }
}

/** Most characters of a client's name in the log. */
const MAX_NAME = 300;

const capabilitiesSchema = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
});

const infoSchema = z.looseObject({ name: z.string(), version: z.string() });

/** A client's name and version, from `initialize` or from every request. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Whether a client with these capabilities can show its user forms. A client that names no kind of elicitation supports forms. */
function canAsk(capabilities: unknown): boolean {
  const { elicitation } = capabilitiesSchema.safeParse(capabilities).data ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The only revision in which every request names its own. */
const MODERN_REVISION = "2026-07-28";

/**
 * Checks the revision of a request, which the SDK does only until a connection has its first call.
 *
 * @throws UnsupportedProtocolVersionError
 */
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

/** A client as the log names it. */
export function clientText(client: ClientInfo | undefined): string {
  return oneLine(client === undefined ? "unnamed" : `${client.name} ${client.version}`, MAX_NAME);
}

function envelope({ envelope: given }: ServerContext["mcpReq"]): Readonly<Record<string, unknown>> {
  return { ...given };
}

/** Most characters of a client's error that a refusal repeats. */
const MAX_REASON = 300;

/**
 * How long after a call the answer to its first question counts, in milliseconds. The SDK's clients, and others, give up a call after 60 s; the
 * refusal must come before, or the agent never learns why.
 */
const PATIENCE = 55_000;

/** The least time in which a user can answer, in milliseconds. */
const LEAST_TIME = 3000;

/** Key of the question in a result that asks one. */
const QUESTION = "approval";

const replySchema = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.looseObject({ answer: z.unknown().optional() }).nullish(),
});

/** The parts of a tool call that the client sends. */
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
  { isQuiet = false }: Pick<Connection, "isQuiet">,
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
    // Over HTTP, the SDK aborts its signal also after the answer. What outlives the call, such as a stop, must not end then.
    mcpReq.signal.removeEventListener("abort", cancel);
  }
}

/**
 * Asks by elicitation. The timeout and the signal also cancel the question in the client. Once the user has answered a question, further ones
 * have their whole time.
 */
function askThrough({ mcpReq }: ServerContext): Ask {
  const begun = performance.now();
  let isAnswered = false;
  return async (question, { timeout: given, signal }): Promise<Reply> => {
    const left = Math.round(begun + PATIENCE - performance.now());
    const timeout = isAnswered ? given : Math.min(given, left);
    if (timeout < LEAST_TIME) return { kind: "failed", why: "earlier questions took all the time of this call" };
    try {
      // The question belongs to the call: over HTTP, it is sent on the stream of the answer.
      const result = await mcpReq.send({ method: "elicitation/create", params: formOf(question) }, { timeout, signal });
      isAnswered = true;
      return readReply(result);
    } catch (error) {
      return failedReply(error, Math.round(timeout / 1000));
    }
  };
}

/** Asks by elicitation apart from any call; `undefined` if the client does not support it. */
export function askOutside(server: Server): Ask | undefined {
  if (!canAsk(server.getClientCapabilities())) return undefined;
  return async (question, { timeout: given, signal }): Promise<Reply> => {
    // The other agent's client may give up its call.
    const timeout = Math.min(given, PATIENCE);
    try {
      const asked = { method: "elicitation/create" as const, params: formOf(question) };
      return readReply(await server.request(asked, { timeout, signal }));
    } catch (error) {
      return failedReply(error, Math.round(timeout / 1000));
    }
  };
}

function roundResult(round: Round): CallToolResult | InputRequiredResult {
  if (round.kind === "answered") return toolResult(round.answer);
  const { question, state } = round;
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(formOf(question)) },
    requestState: state,
  });
}

function formOf({ message, choices }: Question) {
  const answer = { type: "string" as const, title: "Allow?", enum: [...choices] };
  return { message, requestedSchema: { type: "object" as const, properties: { answer }, required: ["answer"] } };
}

function readReply(given: unknown): Reply {
  const reply = replySchema.safeParse(given).data;
  if (reply === undefined) return { kind: "failed", why: "the client's answer was malformed" };
  if (reply.action !== "accept") return { kind: "declined" };
  const choice = reply.content?.answer;
  return typeof choice === "string"
    ? { kind: "chosen", choice }
    : { kind: "failed", why: "the client's answer names no choice" };
}

/** The reply for a rejection of the SDK: a timeout, a malformed answer, or an error or disconnection of the client. */
function failedReply(error: unknown, seconds: number): Reply {
  if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return { kind: "unable" };
  const code = error instanceof SdkError ? error.code : undefined;
  if (code === SdkErrorCode.RequestTimeout) return { kind: "unanswered", seconds };
  if (code === SdkErrorCode.InvalidResult) return { kind: "failed", why: "the client's answer was malformed" };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "failed", why: `the question failed in the client (${oneLine(message, MAX_REASON)})` };
}

function toolResult({ blocks, isError, structured, meta }: ToolAnswer): CallToolResult {
  return {
    content: blocks.map((text) => ({ type: "text", text })),
    isError,
    ...(structured === undefined ? {} : { structuredContent: { ...structured } }),
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  };
}

/** The error of a JSON-RPC response. */
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

/** Whether a message needs an answer. */
export function isRequest(message: JSONRPCMessage): message is Request {
  return "method" in message && "id" in message;
}

/** Why a request is refused that has the id of an open one. */
export const ID_IN_USE = "a request with this id is still in progress. Give every request its own id.";

/** A message that needs an answer. */
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
 * How long a client may cache this server's answers, in milliseconds. The tools of an image never change; another process may have other options.
 * An image that is no SBCL refuses calls of tools that it cannot serve.
 */
const KEPT = { ttlMs: 3_600_000, cacheScope: "private" } as const;

/** Most subscriptions that a client may have open at a time. Nothing is ever sent on them. */
export const MAX_SUBSCRIPTIONS = 16;

/** Listeners for what a client does. */
export interface ClientEvents {
  /** A client has given its name and version. */
  onClient?(client: ClientInfo | undefined): void;
  /** The client has listed the tools for the first time. A client that only probes the protocol revision does not. */
  onList?(): void;
}

/** State that the servers of a connection share: a client may probe one protocol revision and then use another. */
export interface Connection {
  readonly tools: ToolServer;
  readonly calls: SuspendedCalls;
  /** True if the client takes nothing but answers: it is sent no progress, and asked nothing while a call runs. */
  readonly isQuiet?: boolean;
  list(): { readonly tools: readonly object[] };
  /** The skills that the client is served. */
  skills(): Promise<readonly ServedSkill[]>;
  /** Only the first client that a connection names counts. */
  onClient(client: ClientInfo | undefined): void;
  /** Only the first list counts. */
  onList(): void;
}

/** The state of a new connection. */
export function connectionOf(tools: ToolServer, events: ClientEvents): Connection {
  return {
    tools,
    calls: new SuspendedCalls(tools),
    list: listOf(tools),
    skills: lazily(() => offeredSkills(tools)),
    onClient: once((client: ClientInfo | undefined) => events.onClient?.(client)),
    onList: once(() => events.onList?.()),
  };
}

/** Returns the function that makes the answer to `tools/list`. The entries of the tools are made once. */
function listOf(tools: ToolServer): Connection["list"] {
  const entries = lazily(() => new Map(tools.tools.map((tool) => [tool, listed(tool)])));
  return () => ({ tools: tools.usableTools.flatMap((tool) => entries().get(tool) ?? []) });
}

/** Tells a client when an image turns out to lack what some of the tools need. */
function announceLists(server: Server, { tools, isQuiet }: Connection): void {
  if (isQuiet === true || !mayLackTools(tools)) return;
  const end = tools.agent.host.onSession(({ client }) => {
    if (client.abilities.missing.length > 0) server.sendToolListChanged().catch(() => end());
  });
}

/** Whether the image may be no SBCL: the tools of a launched one never change. */
function mayLackTools({ agent }: ToolServer): boolean {
  return agent.config.attach !== undefined;
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
        resources: {},
        extensions: { [SKILLS]: {} },
      },
      instructions: tools.guide.advise(tools.agent.config.readOnly ? READ_ONLY_INSTRUCTIONS : INSTRUCTIONS),
      jsonSchemaValidator: UNUSED_VALIDATOR,
      cacheHints: { "tools/list": KEPT, "server/discover": KEPT },
      // The shim would replace failed questions by its own answers.
      inputRequired: { legacyShim: false },
    },
  );
}

/** The SDK's extension for skills (SEP-2640). */
const SKILLS = "io.modelcontextprotocol/skills";

/** The skills of which each sentence holds for the client: those that name no tool which is switched off. */
async function offeredSkills({ guide }: ToolServer): Promise<readonly ServedSkill[]> {
  // Few clients ask for skills, and reading them would slow every start.
  const { readSkills } = await import("./skills.js");
  return (await readSkills()).filter(({ text }) => guide.offersAll(text));
}

const MARKDOWN = { mimeType: "text/markdown" } as const;

/**
 * Serves the skills, by the SDK's extension and as resources. The extension attaches itself only to the SDK's high-level server.
 *
 * @param meet - Sees each request first.
 * @param kept - How long the client may keep the answers.
 */
function serveSkills(
  server: Server,
  { skills }: Connection,
  meet: (context: ServerContext) => void = () => undefined,
  kept: Partial<typeof KEPT> = {},
): void {
  const find = async (uri: string) => (await skills()).find(({ entry }) => entry.uri === uri);
  server.setRequestHandler("skills/list", NO_PARAMS, async (_params, context) => {
    meet(context);
    return { skills: (await skills()).map(({ entry }) => entry), ...kept };
  });
  server.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, context) => {
    meet(context);
    const found = await find(uri);
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, `No skill is served at ${uri}`);
    return { skill: found.entry, ...kept };
  });
  server.setRequestHandler("resources/list", async (_request, context) => {
    meet(context);
    const resources = (await skills()).map(({ entry: { uri, frontmatter }, text }) => ({
      uri,
      name: frontmatter.name,
      description: frontmatter.description,
      size: Buffer.byteLength(text),
      ...MARKDOWN,
    }));
    return { resources, ...kept };
  });
  server.setRequestHandler("resources/templates/list", (_request, context) => {
    meet(context);
    return { resourceTemplates: [], ...kept };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    meet(context);
    const found = await find(uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, text: found.text, ...MARKDOWN }], ...kept };
  });
}

/** Serves a client that names itself once, at `initialize`. */
export function serveLegacy(server: Server, connection: Connection): void {
  const { onClient, onList, list } = connection;
  server.setRequestHandler("tools/list", NO_PARAMS, () => {
    onList();
    return { ...list() };
  });
  serveSkills(server, connection);
  server.oninitialized = () => {
    onClient(server.getClientVersion());
    announceLists(server, connection);
  };
  server.setRequestHandler("tools/call", ({ params }, context) =>
    callAskingInside(connection, server, { ...params.arguments }, context),
  );
}

/** Serves a client that names itself in every request. */
export function serveModern(server: Server, connection: Connection): void {
  const { list, onClient, onList } = connection;
  const meet = (context: ServerContext) => {
    checkRevision(context);
    onClient(namedClient(context));
  };
  serveSkills(server, connection, meet, KEPT);
  server.setRequestHandler("tools/list", NO_PARAMS, (_params, context) => {
    meet(context);
    onList();
    return { ...list() };
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
