import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import { Feed } from "#swank-mcp/page/feed.js";
import type { PageEvent, PageState } from "#swank-mcp/page/model.js";
import { firstAddress, newSecret, PageGuard } from "#swank-mcp/page/page-guard.js";
import { PageServer, type PageServices } from "#swank-mcp/page/serve-page.js";

const ADDRESS = /^swank-mcp: the page is at (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+)$/m;

/** The page's address with its token, once the server has written it to standard error. */
export async function pageAddress(server: { readonly errorText: string }): Promise<string> {
  for (;;) {
    const [, address] = ADDRESS.exec(server.errorText) ?? [];
    if (address !== undefined) return address;
    await setTimeout(20);
  }
}

/** An answer of the page's server. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Headers = Readonly<Record<string, string>>;

export interface Asked {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

/** Sends a request with any headers. */
export function ask(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: Asked = {},
): Promise<PageAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }));
      res.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const eventSchema = z.custom<PageEvent>((event) => z.looseObject({ type: z.string() }).safeParse(event).success);

/** What a page receives. */
export class PageStream {
  readonly events: PageEvent[] = [];
  /** The id of the last event. */
  lastId = "";
  hasEnded = false;
  readonly response: IncomingMessage;
  #rest = "";
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    response.on("error", () => undefined);
    response.on("close", () => {
      this.hasEnded = true;
      this.#wake();
    });
  }

  /** Waits until an event, old or new, is one that `is` accepts. */
  async until(is: (event: PageEvent) => boolean): Promise<PageEvent> {
    for (;;) {
      const found = this.events.find(is);
      if (found !== undefined) return found;
      if (this.hasEnded) throw new Error(`The stream has ended after ${JSON.stringify(this.events).slice(-1000)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The last state. */
  async state(): Promise<PageState> {
    const event = await this.until(({ type }) => type === "state");
    if (event.type !== "state") throw new Error("This is no state.");
    return event.state;
  }

  close(): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (id !== undefined) this.lastId = id;
      if (data !== undefined) this.events.push(eventSchema.parse(JSON.parse(data)));
    }
    this.#wake();
  }
}

/** A browser that has opened the page's address. */
export class PageVisitor {
  readonly port: number;
  readonly folder: string;
  readonly cookie: string;

  private constructor(port: number, folder: string, cookie: string) {
    this.port = port;
    this.folder = folder;
    this.cookie = cookie;
  }

  /** @param address - With the token. */
  static async open(address: string): Promise<PageVisitor> {
    const url = new URL(address);
    const { status, headers, body } = await ask(Number(url.port), `${url.pathname}${url.search}`);
    const [cookie] = headers["set-cookie"] ?? [];
    if (status !== 303 || cookie === undefined) throw new Error(`${status} ${body}`);
    return new PageVisitor(Number(url.port), new URL(headers.location ?? "").pathname, cookie.split(";", 1)[0] ?? "");
  }

  /** Asks for a file, or anything else, of the page. */
  ask(name: string, { headers = {}, ...asked }: Asked = {}): Promise<PageAnswer> {
    return ask(this.port, `${this.folder}${name}`, { ...asked, headers: { cookie: this.cookie, ...headers } });
  }

  /** Sends JSON, and returns the reply. */
  async post(name: "look" | "act", sent: unknown): Promise<unknown> {
    const { status, body } = await this.ask(name, {
      method: "POST",
      headers: { "content-type": "application/json", origin: `http://127.0.0.1:${this.port}` },
      body: JSON.stringify(sent),
    });
    if (status !== 200) throw new Error(`${status} ${body}`);
    return JSON.parse(body);
  }

  /** Begins to receive events. */
  events(lastId?: string): Promise<PageStream> {
    const headers = { cookie: this.cookie, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
    const options = {
      host: "127.0.0.1",
      port: this.port,
      path: `${this.folder}events`,
      headers,
      agent: false,
    } as const;
    return new Promise((resolve, reject) => {
      const sent = request(options, (res) => {
        if (res.statusCode === 200) resolve(new PageStream(res));
        else reject(new Error(`${res.statusCode}`));
      });
      sent.on("error", reject);
      sent.end();
    });
  }
}

/** A page's server in this process, which serves no image. */
export class ServedPage {
  readonly feed: Feed;
  readonly server: PageServer;
  /** With the token. */
  readonly url: string;

  private constructor(server: PageServer, services: Partial<PageServices>) {
    this.server = server;
    this.feed = new Feed({ version: "0", mode: "server", isReadOnly: services.isReadOnly ?? false });
    const refuse = async () =>
      ({ ok: false, error: { code: "NOT_AVAILABLE", message: "There is no image." } }) as const;
    const all = { feed: this.feed, isReadOnly: false, look: refuse, act: refuse, ...services };
    const token = newSecret();
    this.url = firstAddress(server.port, token);
    server.serve(new PageGuard(server.port, token, "that the test has"), all);
  }

  static async start(services: Partial<PageServices> = {}): Promise<ServedPage> {
    return new ServedPage(await PageServer.listen(0, () => undefined), services);
  }

  get port(): number {
    return this.server.port;
  }

  visit(): Promise<PageVisitor> {
    return PageVisitor.open(this.url);
  }

  async close(): Promise<void> {
    this.feed.close();
    await this.server.close();
  }
}
