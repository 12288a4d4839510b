import { PassThrough } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { AgentSession, readConfig, ToolServer } from "swank-mcp";
import * as z from "zod";
import { PageActs } from "#swank-mcp/page/acts.js";
import { Feed } from "#swank-mcp/page/feed.js";
import { ImageWatch, type WatchParts } from "#swank-mcp/page/image-watch.js";
import { PageLooks } from "#swank-mcp/page/looks.js";
import type { Act, Looks, PageMode, PageReply, PageState } from "#swank-mcp/page/model.js";
import { PageRefusal } from "#swank-mcp/page/reply.js";
import { PageStops } from "#swank-mcp/page/stops.js";
import { AgentName, ImageHost } from "#swank-mcp/session/image.js";
import { openUnnamed } from "#swank-mcp/session/open-image.js";

/** What the person's evaluations and the page's connection are made with. */
const CONFIG = readConfig(["--foreign-errors", "theirs", "--approval", "off"], {});

/** The page's own connection to the image on a port. */
export function pageHost(port: number): ImageHost {
  return new ImageHost(openUnnamed({ host: "127.0.0.1", port }, CONFIG, () => undefined));
}

/** The answer to a look, as the page in the browser reads it from JSON. */
export type Answer<Name extends keyof Looks> = Looks[Name]["result"];

/** Returns the value of a reply, which must be one, as the model says it is. */
export function resultOf<Value>(reply: PageReply<unknown>): Value {
  if (!reply.ok) throw new Error(`${reply.error.code}: ${reply.error.message}`);
  return z.custom<Value>().parse(reply.value);
}

/** Returns the code of the error that a reply must have. */
export function codeOf(reply: PageReply<unknown>): string {
  if (reply.ok) throw new Error(`An error was expected, not ${JSON.stringify(reply.value)}.`);
  return reply.error.code;
}

/** Milliseconds after which a page that was left is no longer watched. */
const GRACE = 100;

export interface PageOptions extends Partial<Pick<WatchParts, "served" | "imageKind" | "isReadOnly">> {
  /** Default: `image`. */
  readonly mode?: PageMode;
  /** The agents of the server by their ids on the page. */
  readonly agents?: ReadonlyMap<string, AgentSession>;
}

/** What a page's server does beside the image on a port, without HTTP. */
export class PageBeside {
  readonly feed: Feed;
  readonly watch: ImageWatch;
  readonly looks: PageLooks;
  readonly acts: PageActs;
  readonly person: ToolServer;
  readonly defects: unknown[] = [];
  #reader: PassThrough | undefined;

  constructor(port: number, { agents = new Map(), ...options }: PageOptions = {}) {
    const { mode = "image", isReadOnly = false, imageKind = () => "open" } = options;
    const host = pageHost(port);
    const name = new AgentName();
    name.set("you");
    const onDefect = (defect: unknown) => this.defects.push(defect);
    const stops = new PageStops();
    const served = options.served ?? (() => [...agents.values()]);
    this.person = new ToolServer(new AgentSession(host, CONFIG, name), { onDefect });
    this.feed = new Feed({ version: "0", mode, isReadOnly }, GRACE);
    this.watch = new ImageWatch({ mode, feed: this.feed, host, stops, served, imageKind, isReadOnly, onDefect });
    const session = (signal: AbortSignal) => this.watch.session(signal);
    const callText = (id: string) => {
      const text = this.watch.record.text(id);
      if (text === undefined) throw new PageRefusal("NOT_AVAILABLE", "It is not kept.");
      return text;
    };
    this.looks = new PageLooks({ session, callText, stops, isReadOnly, onDefect });
    const { person, watch } = this;
    this.acts = new PageActs({ person, watch, stops, served: () => agents, isReadOnly, onDefect });
  }

  /** Begins to watch, as a page that is opened. */
  open(): void {
    this.#reader = new PassThrough().resume();
    this.feed.send(this.#reader);
  }

  /** Watches no more. */
  leave(): void {
    this.#reader?.destroy();
  }

  look(
    look: string,
    args: object = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<PageReply<unknown>> {
    return this.looks.answer({ look, ...args }, signal);
  }

  /** The value of a look, as the page in the browser gets it. */
  async see<Name extends keyof Looks>(name: Name, args: Looks[Name]["args"]): Promise<Answer<Name>> {
    return resultOf<Answer<Name>>(await this.look(name, args));
  }

  try(act: Act): Promise<PageReply<string>> {
    return this.acts.answer(act, new AbortController().signal);
  }

  async do(act: Act): Promise<string> {
    return resultOf<string>(await this.try(act));
  }

  /** Waits until the page shows what is found in its state. */
  async until<Found>(find: (state: PageState) => Found | undefined | Promise<Found | undefined>): Promise<Found> {
    for (;;) {
      const found = await find(this.feed.state);
      if (found !== undefined) return found;
      await setTimeout(50);
    }
  }

  /** Closes the page. Fails if there were defects. */
  async close(): Promise<void> {
    this.leave();
    this.feed.close();
    await this.watch.close();
    this.person.agent.close();
    if (this.defects.length > 0) throw new Error(`Defects: ${this.defects.map(String).join("; ")}`);
  }
}
