import { BackgroundStops } from "../session/background-stops.js";
import type { ToolServer } from "../tools/tool-server.js";

/** The capability by which Claude Code takes events into a session. It is experimental there. */
export const CHANNEL = "claude/channel";

/** A notification for the client. */
interface ChannelNotification {
  readonly method: string;
  readonly params: { readonly content: string; readonly meta: Readonly<Record<string, string>> };
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
