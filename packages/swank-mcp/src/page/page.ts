import { rmSync } from "node:fs";
import { keepForUser } from "swank-client/internal";
import { type Config, DEFAULT_HOST } from "../base/config.js";
import type { Log } from "../base/log.js";
import { VERSION } from "../base/version.js";
import type { CallRecorder } from "../call/recorder.js";
import type { AgentSession } from "../session/agent.js";
import type { ImageHost } from "../session/image.js";
import type { Neighbours } from "../session/neighbours.js";
import type { ToolServer } from "../tools/tool-server.js";
import { AgentCalls } from "./calls.js";
import { Feed } from "./feed.js";
import { firstAddress, newSecret, PageGuard } from "./page-guard.js";
import { PageServer } from "./serve-page.js";

/** The agents of this server, and the image that they share. */
export interface PageClients {
  /** Keeps an image that this process launches. */
  readonly keeper: ImageHost | undefined;
  readonly agents: Neighbours;
  /** Makes the tools of the person at the page. */
  openPerson(name: string, recorderOf: (agent: AgentSession) => CallRecorder): ToolServer;
}

/** The page on which a person watches the agents of this server, or those of an image, and steers them. */
export class Page {
  readonly #config: Config;
  readonly #log: Log;
  readonly #server: PageServer;
  readonly #guard: PageGuard;
  readonly #file: KeptAddress | undefined;
  readonly #feed: Feed;
  readonly #calls: AgentCalls;
  #person: ToolServer | undefined;

  private constructor(config: Config, log: Log, server: PageServer, guard: PageGuard, file: KeptAddress | undefined) {
    this.#config = config;
    this.#log = log;
    this.#server = server;
    this.#guard = guard;
    this.#file = file;
    const mode = config.command === "page" ? "image" : "server";
    this.#feed = new Feed({ version: VERSION, mode, isReadOnly: config.pageReadOnly });
    this.#calls = new AgentCalls(this.#feed);
  }

  /**
   * Listens on the page's port, and tells the person where the page is.
   *
   * @throws OptionError - if the port cannot be used.
   */
  static async open(config: Config, log: Log): Promise<Page> {
    const server = await PageServer.listen(config.page ?? 0, log);
    const token = newSecret();
    const address = firstAddress(server.port, token);
    const file = await KeptAddress.keep(config.cacheDir, server.port, address);
    process.stderr.write(`swank-mcp: the page is at ${address}\n`);
    log(`page: listening on port ${server.port}`);
    const also = file === undefined ? "" : `, and to ${file.path}`;
    const guard = new PageGuard(server.port, token, `that swank-mcp has written to standard error${also}`);
    return new Page(config, log, server, guard, file);
  }

  /** Where the page is, for agents: without the token, with which an agent could answer its own questions. */
  get facts(): Readonly<Record<string, string>> {
    const where = this.#file?.path ?? "swank-mcp's standard error";
    return {
      page: `http://${DEFAULT_HOST}:${this.#server.port}/, for the user, who finds the address with its token in ${where}`,
    };
  }

  /** Adds an agent. @returns what records its calls */
  recorderOf(agent: AgentSession): CallRecorder {
    return this.#calls.add(agent);
  }

  /** Answers from now on. */
  serve(clients: PageClients): void {
    clients.agents.watch({ added: () => undefined, removed: ({ session }) => this.#calls.remove(session) });
    this.#person = clients.openPerson("you", (agent) => this.#calls.add(agent, true));
    this.#server.serve(this.#guard, {
      feed: this.#feed,
      isReadOnly: this.#config.pageReadOnly,
      look: async () => NOT_AVAILABLE,
      act: async () => NOT_AVAILABLE,
    });
  }

  /** Ends the page and the person's connection to the image. Never rejects. */
  async close(): Promise<void> {
    this.#file?.remove();
    this.#feed.close();
    this.#person?.cutOff();
    await this.#server.close();
    await this.#person?.agent.host.close();
    this.#person?.agent.close();
    this.#log("page: closed");
  }
}

const NOT_AVAILABLE = { ok: false, error: { code: "NOT_AVAILABLE", message: "There is no image." } } as const;

/** The file with the page's address, which only the user can read, as long as the page is served. */
class KeptAddress {
  readonly path: string;
  readonly #remove: () => void;

  private constructor(path: string) {
    this.path = path;
    this.#remove = () => rmSync(path, { force: true });
    // However the process ends.
    process.once("exit", this.#remove);
  }

  /** @returns `undefined` if no file can be written. */
  static async keep(cacheDir: string | undefined, port: number, address: string): Promise<KeptAddress | undefined> {
    const path = await keepForUser(cacheDir, `page-${port}.url`, `${address}\n`);
    return path === undefined ? undefined : new KeptAddress(path);
  }

  remove(): void {
    process.off("exit", this.#remove);
    this.#remove();
  }
}
