import type { Config } from "./config.js";
import { LastError } from "./last-error.js";
import { LispContext } from "./lisp-context.js";
import type { OpenSession } from "./lisp-session.js";
import { Notices } from "./notices.js";
import { runTool, type ToolCall, type ToolHost } from "./run-tool.js";
import { StopKeeper } from "./stop-keeper.js";
import type { Tool } from "./tool.js";
import type { ToolAnswer } from "./tool-answer.js";
import { TOOLS } from "./tools/index.js";

/** The tools and what they share, without any protocol round them. */
export class ToolServer {
  readonly #host: ToolHost;
  readonly #running = new Set<Promise<ToolAnswer>>();

  /** @param open - How to get to Lisp; called when a tool first needs it. */
  constructor(config: Config, open: OpenSession) {
    const notices = new Notices();
    this.#host = {
      tools: TOOLS,
      config,
      notices,
      lisp: new LispContext(open, notices),
      lastError: new LastError(),
      stops: new StopKeeper(config, notices),
    };
  }

  get tools(): readonly Tool[] {
    return this.#host.tools;
  }

  /** Runs a tool; calls run side by side. Never rejects. */
  async call(call: ToolCall): Promise<ToolAnswer> {
    const answer = runTool(this.#host, call);
    this.#running.add(answer);
    try {
      return await answer;
    } finally {
      this.#running.delete(answer);
    }
  }

  /** Resolves when the calls that run now have been answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Ends what runs in Lisp, the connection, and an image of our own. Never rejects. */
  async close(): Promise<void> {
    this.#host.stops.clear();
    await this.#host.lisp.close();
  }
}
