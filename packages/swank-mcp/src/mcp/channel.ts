import type { AgentSession } from "../session/agent.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { apartNotice } from "../session/stops.js";
import { cutName } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";

/** The capability by which Claude Code takes events into a session. It is experimental there. */
export const CHANNEL = "claude/channel";

interface ChannelNotification {
  readonly method: string;
  readonly params: { readonly content: string; readonly meta: Readonly<Record<string, string>> };
}

/** A stop that no call waited for. */
interface BackgroundStop {
  readonly text: string;
  readonly advice: string;
  readonly thread: string;
  readonly type: string;
}

/** Milliseconds after which it is known whether an answer has told of a stop. */
const PAUSE = 1000;

/** Tells once of each stop that no call of the agent waits for: of another thread, or of an evaluation in the background. */
class BackgroundStops {
  readonly #agent: AgentSession;
  readonly #listener: (stop: BackgroundStop) => void;
  readonly #ends: (() => void)[] = [];
  #isClosed = false;

  constructor(agent: AgentSession, listener: (stop: BackgroundStop) => void) {
    this.#agent = agent;
    this.#listener = listener;
    this.#ends.push(agent.host.onSession((session) => this.#watch(session)));
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  #watch(session: LispSession): void {
    const { client } = session;
    for (const stop of this.#agent.stopsIn(session)) this.#lookLater(stop);
    this.#ends.push(client.on("stop", (stop) => this.#lookLater(stop)));
  }

  #lookLater(stop: DebuggedStop): void {
    setTimeout(() => {
      const news = this.#isClosed || !stop.isLive ? undefined : this.#newsOf(stop);
      if (news !== undefined) this.#listener(news);
    }, PAUSE).unref();
  }

  #newsOf(stop: DebuggedStop): BackgroundStop | undefined {
    const { evaluation, condition } = stop;
    const { stops, background } = this.#agent;
    const thread = `${stop.thread}/${stop.level}`;
    const notice = apartNotice(stop);
    const told = { advice: notice.advice, thread, type: cutName(condition.type) };
    if (evaluation === undefined) return stops.wasAwaited(stop) ? undefined : { ...told, text: notice.text };
    const text = background.of(evaluation)?.news;
    return text === undefined ? undefined : { ...told, text };
  }
}

/** Sends a client each stop in the background. */
export class Channel {
  readonly #tools: ToolServer;
  #stops: BackgroundStops | undefined;

  constructor(tools: ToolServer) {
    this.#tools = tools;
  }

  /** Begins, unless it has begun or is not wanted. */
  open(send: (notification: ChannelNotification) => void): void {
    const { agent, guide } = this.#tools;
    if (!agent.config.channel || this.#stops !== undefined) return;
    this.#stops = new BackgroundStops(agent, ({ text, advice, thread, type }) => {
      const content = [text, guide.advise(advice)].filter(Boolean).join(" ");
      send({ method: `notifications/${CHANNEL}`, params: { content, meta: { thread, type } } });
    });
  }

  close(): void {
    this.#stops?.close();
  }
}
