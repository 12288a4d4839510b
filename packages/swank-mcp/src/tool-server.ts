import { Approvals } from "./approvals.js";
import type { Config } from "./config.js";
import type { OnDefect } from "./defects.js";
import { explainError } from "./explain-error.js";
import { oneLine } from "./format/cut.js";
import { LastError } from "./last-error.js";
import { LispContext } from "./lisp-context.js";
import type { DebuggedStop, EndedThread, HitElsewhere } from "./lisp-port.js";
import type { LispSession, OpenSession } from "./lisp-session.js";
import { Notices } from "./notices.js";
import { OutputRelay } from "./output-relay.js";
import { Refusal } from "./refusal.js";
import { runTool, type ToolCall, type ToolHost } from "./run-tool.js";
import { innermost } from "./stop-address.js";
import { StopKeeper } from "./stop-keeper.js";
import type { Tool } from "./tool.js";
import type { ToolAnswer } from "./tool-answer.js";
import { isForeign } from "./tools/foreign.js";
import { TOOLS } from "./tools/index.js";

/** Characters of an error's message in a notice. */
const MAX_MESSAGE = 200;

/** Where the session is, as a prompt shows it. */
export interface Place {
  readonly packageName: string;
  /** `thread/level` of what is stopped, the latest last. */
  readonly stops: readonly string[];
}

/** The tools and what they share, without any protocol round them. */
export class ToolServer {
  readonly #host: ToolHost;
  readonly #running = new Set<RunningCall>();
  /** Set once no call is run any more. */
  #cutOff: ToolAnswer | undefined;

  /**
   * @param open - How to get to Lisp; called when a tool first needs it.
   * @param onDefect - Told of errors that no tool expected; the agent gets only their message.
   */
  constructor(config: Config, open: OpenSession, onDefect: OnDefect = () => undefined) {
    const notices = new Notices();
    const stops = new StopKeeper(config, notices);
    this.#host = {
      tools: TOOLS,
      config,
      notices,
      lisp: new LispContext((signal) => watched(open(signal), stops, notices), notices),
      lastError: new LastError(),
      stops,
      outputs: new OutputRelay(),
      approvals: new Approvals(config.approval),
      onDefect,
    };
  }

  get tools(): readonly Tool[] {
    return this.#host.tools;
  }

  /** Gets to Lisp now, rather than with the first call that needs it; that one is told if it fails. */
  start(): void {
    this.#host.lisp.session(new AbortController().signal).catch(() => undefined);
  }

  /** Runs a tool; calls run side by side. Never rejects. */
  async call(call: ToolCall): Promise<ToolAnswer> {
    if (this.#cutOff !== undefined) return this.#cutOff;
    // A race against one promise of the server would keep every answer for as long as the server lives.
    const running = runningCall();
    this.#running.add(running);
    void runTool(this.#host, call).then(running.settle);
    try {
      return await running.answer;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when Lisp is there, or cannot be reached, if a call is waiting for that; never rejects. */
  async ready(): Promise<void> {
    await this.#host.lisp.current();
  }

  /** Where the session is, without asking Lisp; `undefined` while there is no session. */
  async place(): Promise<Place | undefined> {
    const session = await this.#host.lisp.current();
    if (session === undefined) return undefined;
    const stops = innermost(session.client.stops).map(({ thread, level }) => `${thread}/${level}`);
    return { packageName: session.packageName, stops };
  }

  /** Symbols that begin so, as code in the session's package writes them; none while Lisp cannot tell. Never rejects. */
  async complete(prefix: string): Promise<readonly string[]> {
    const session = await this.#host.lisp.current();
    return session?.client.completions(prefix, session.packageName).catch(() => []) ?? [];
  }

  /** Answers the calls that still run, and any that come, with a refusal; what they do in Lisp ends with `close`. */
  cutOff(): void {
    this.#cutOff = explainError(new Refusal("SHUTTING_DOWN", "The server is shutting down; the call was cut off."));
    for (const { settle } of this.#running) settle(this.#cutOff);
  }

  /** Ends what runs in Lisp, the connection, and an image of our own. Never rejects. */
  async close(): Promise<void> {
    this.#host.stops.clear();
    await this.#host.lisp.close();
  }
}

/** A call whose answer may come from its tool, or from the end of the server. */
interface RunningCall {
  readonly answer: Promise<ToolAnswer>;
  /** Only the first answer counts. */
  readonly settle: (answer: ToolAnswer) => void;
}

function runningCall(): RunningCall {
  let settle: RunningCall["settle"] = () => {};
  const answer = new Promise<ToolAnswer>((resolve) => {
    settle = resolve;
  });
  return { answer, settle };
}

/** A session whose stops are kept, also those that no call waits for. */
async function watched(opening: Promise<LispSession>, stops: StopKeeper, notices: Notices): Promise<LispSession> {
  const session = await opening;
  const { client } = session;
  const arrived = (stop: DebuggedStop) => stops.arrived(stop, isForeign(stop, session));
  // Threads may have stopped while the session was opened, such as those that a loaded file started.
  for (const stop of client.stops) arrived(stop);
  client.onStop(arrived);
  client.breakpoints.onHitElsewhere((hit) => {
    stops.saw(hit.thread);
    notices.add(hitNotice(hit), "breakpoint hit");
  });
  client.onThreadEnded((ended) => notices.add(endNotice(ended), "ended thread"));
  return session;
}

function endNotice({ thread, threadName, type, message }: EndedThread): string {
  return `Thread ${thread} (${threadName}), which your code started, was ended by ${type}: ${oneLine(message, MAX_MESSAGE)}`;
}

function hitNotice({ breakpoint, function: name, thread, threadName, owner }: HitElsewhere): string {
  return `Breakpoint ${breakpoint} on ${name} stopped thread ${thread} (${threadName}) in ${owner.text}, where the user continues it. Name the thread to look at it: debugger_frames with thread "${thread}".`;
}
