import { type ToolAnswer, type ToolGuide, withBoundedMeta } from "../base/answer.js";
import type { OnDefect } from "../base/log.js";
import { explainError, Refusal } from "../base/refusals.js";
import { type CallLedger, type CallRecord, outcomeOf } from "../call/ledger.js";
import { refusalAnswer, runTool, type ToolCall, type ToolHost } from "../call/run-call.js";
import type { DeclaredTool, Tool } from "../call/tool.js";
import type { AgentSession } from "../session/agent.js";
import { chooseTools } from "./catalogue.js";

export interface ToolServerOptions {
  /** Default: every tool of this package. */
  readonly catalogue?: readonly DeclaredTool[];
  /** The client's own names for tools in texts, such as the commands of the console. Default: the tools' names. */
  readonly names?: ReadonlyMap<string, string>;
  readonly onCall?: (record: CallRecord) => void;
  /** Records every call. Default: none is recorded. */
  readonly ledger?: CallLedger | undefined;
  /** Called with errors that no tool expected. The agent gets only their message. */
  readonly onDefect?: OnDefect;
}

/** The tools for one client, independent of any protocol. */
export class ToolServer {
  readonly agent: AgentSession;
  readonly #host: ToolHost;
  readonly #onCall: (record: CallRecord) => void;
  readonly #ledger: CallLedger | undefined;
  /** The functions that answer running calls. Only the first answer of a call counts. */
  readonly #running = new Set<(answer: ToolAnswer) => void>();
  /** The answer of every call after `cutOff`. */
  #cutOff: ToolAnswer | undefined;

  constructor(agent: AgentSession, { catalogue, names, onCall, ledger, onDefect }: ToolServerOptions = {}) {
    this.agent = agent;
    this.#onCall = onCall ?? (() => undefined);
    this.#ledger = ledger;
    this.#host = { ...chooseTools(agent.config, catalogue, names), agent, onDefect: onDefect ?? (() => undefined) };
  }

  get guide(): ToolGuide {
    return this.#host.guide;
  }

  get tools(): readonly Tool[] {
    return this.#host.tools;
  }

  /** Names of the tools that --read-only switches off: their calls are refused with the reason. */
  get withheld(): readonly string[] {
    return this.#host.withheld;
  }

  /** Runs a tool. Calls run concurrently. Never rejects. */
  async call(call: ToolCall): Promise<ToolAnswer> {
    const began = performance.now();
    const entry = this.#ledger?.begin(call);
    const watched = entry === undefined ? call : { ...call, watch: entry, onEnded: entry.ended };
    const answer = this.#cutOff ?? (await this.#answer(watched));
    const milliseconds = performance.now() - began;
    // The ledger has limits of its own.
    entry?.end(answer, milliseconds);
    this.#onCall({ name: call.name, milliseconds, outcome: outcomeOf(answer) });
    return withBoundedMeta(answer);
  }

  /** Answers a call that is refused before it runs, and reports it like any other call. */
  refuse({ name, args }: Pick<ToolCall, "name" | "args">, error: unknown): ToolAnswer {
    const answer = refusalAnswer(this.#host, error);
    this.#ledger?.begin({ name, args }).end(answer, 0);
    this.#onCall({ name, milliseconds: 0, outcome: outcomeOf(answer) });
    return answer;
  }

  /** The answer of the tool or, if that comes first, of the end of the server. */
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
    for (const settle of this.#running) settle(this.#cutOff);
  }
}
