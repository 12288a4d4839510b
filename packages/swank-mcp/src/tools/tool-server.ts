import { type ToolAnswer, type ToolGuide, withBoundedMeta } from "../base/answer.js";
import type { OnDefect } from "../base/log.js";
import { explainError, Refusal } from "../base/refusals.js";
import { CallEntries, type CallRecorder, type RecordedCall } from "../call/recorder.js";
import { refusalAnswer, runTool, type ToolCall, type ToolHost } from "../call/run-call.js";
import type { DeclaredTool, Tool } from "../call/tool.js";
import type { AgentSession } from "../session/agent.js";
import { thrownOut } from "../session/steering.js";
import { chooseTools } from "./catalogue.js";

export interface ToolServerOptions {
  /** Default: every tool of this package. */
  readonly catalogue?: readonly DeclaredTool[];
  /** The client's own names for tools in texts, such as the commands of the console. Default: the tools' names. */
  readonly names?: ReadonlyMap<string, string>;
  /** Record every call. Default: none is recorded. */
  readonly recorders?: readonly CallRecorder[];
  /** Called with errors that no tool expected, of which the agent gets only the message, and with errors of recorders. */
  readonly onDefect?: OnDefect;
}

/** The tools for one client, independent of any protocol. */
export class ToolServer {
  readonly agent: AgentSession;
  readonly #host: ToolHost;
  readonly #recorders: readonly CallRecorder[];
  /** The functions that answer calls that run or wait. Only the first answer of a call counts. */
  readonly #running = new Set<(answer: ToolAnswer) => void>();
  /** The answer of every call after `cutOff`. */
  #cutOff: ToolAnswer | undefined;

  constructor(agent: AgentSession, { catalogue, names, recorders = [], onDefect }: ToolServerOptions = {}) {
    this.agent = agent;
    this.#recorders = recorders;
    agent.steering.onChange((state) => {
      if (state === "out") this.#settleAll(refusalAnswer(this.#host, thrownOut()));
    });
    const chosen = chooseTools(agent.config, catalogue, names, () => this.#unusable().map(({ name }) => name));
    this.#host = { ...chosen, agent, onDefect: onDefect ?? (() => undefined) };
  }

  get guide(): ToolGuide {
    return this.#host.guide;
  }

  get tools(): readonly Tool[] {
    return this.#host.tools;
  }

  /** The tools for which the image can do what they need, as far as it is known. */
  get usableTools(): readonly Tool[] {
    const unusable = this.#unusable();
    return this.tools.filter((tool) => !unusable.includes(tool));
  }

  #unusable(): readonly Tool[] {
    const { state } = this.agent.host;
    if (state.kind !== "open") return [];
    const { abilities } = state.session.client;
    return this.tools.filter(({ needs }) => needs !== undefined && !abilities.has(needs));
  }

  /** Names of the tools that --read-only switches off: their calls are refused with the reason. */
  get withheld(): readonly string[] {
    return this.#host.withheld;
  }

  /** Runs a tool. Calls run concurrently. Never rejects. */
  async call(call: ToolCall): Promise<ToolAnswer> {
    const began = performance.now();
    const entries = this.#entriesOf(call);
    const answer = this.#cutOff ?? (await this.#answer(entries === undefined ? call : recorded(call, entries)));
    // Recorders have limits of their own.
    entries?.end(answer, performance.now() - began);
    return withBoundedMeta(answer);
  }

  /** Answers a call that is refused before it runs, and reports it like any other call. */
  refuse({ name, args }: RecordedCall, error: unknown): ToolAnswer {
    const answer = refusalAnswer(this.#host, error);
    this.#entriesOf({ name, args })?.end(answer, 0);
    return answer;
  }

  #entriesOf(call: RecordedCall): CallEntries | undefined {
    return this.#recorders.length === 0 ? undefined : new CallEntries(this.#recorders, call, this.#host.onDefect);
  }

  /** The answer of the tool or, if that comes first, of the end of the server or of the agent. */
  #answer(call: ToolCall): Promise<ToolAnswer> {
    // `Promise.race` with a promise of the server would keep every answer alive as long as the server.
    return new Promise((settle) => {
      this.#running.add(settle);
      void runTool(this.#host, call).then((answer) => {
        this.#running.delete(settle);
        settle(answer);
      });
    });
  }

  /** Answers running and later calls with a refusal. Their work in Lisp ends when the image host or the client is closed. */
  cutOff(): void {
    this.#cutOff = explainError(new Refusal("SHUTTING_DOWN", "The server is shutting down; the call did not finish."));
    this.#settleAll(this.#cutOff);
  }

  #settleAll(answer: ToolAnswer): void {
    for (const settle of this.#running) settle(answer);
  }
}

/** The same call, whose approvals and output go to the records, too. */
function recorded(call: ToolCall, entries: CallEntries): ToolCall {
  if (!entries.takesOutput) return { ...call, entries };
  const progress: ToolCall["progress"] = (text, stream) => {
    call.progress(text, stream);
    if (stream !== undefined) entries.output(text, stream);
  };
  return { ...call, entries, progress };
}
