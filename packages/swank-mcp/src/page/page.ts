import { rmSync } from "node:fs";
import { keepWhileRunning } from "swank-client/internal";
import { type Config, DEFAULT_HOST } from "../base/config.js";
import { defectReporter, type Log } from "../base/log.js";
import { VERSION } from "../base/version.js";
import type { CallRecorder } from "../call/recorder.js";
import type { AgentSession } from "../session/agent.js";
import type { ImageHost } from "../session/image.js";
import type { Neighbours } from "../session/neighbours.js";
import type { ToolServer } from "../tools/tool-server.js";
import { PageActs } from "./acts.js";
import { AgentCalls } from "./calls.js";
import { Feed } from "./feed.js";
import { ImageWatch, imageKindOf } from "./image-watch.js";
import { PageLooks } from "./looks.js";
import { firstAddress, newSecret, PageGuard } from "./page-guard.js";
import { PageServer, type PageServices } from "./serve-page.js";
import { PageStops } from "./stops.js";

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
  #person: { readonly tools: ToolServer; readonly watch: ImageWatch } | undefined;

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
    const { agents, keeper } = clients;
    agents.watch({ added: () => undefined, removed: ({ session }) => this.#calls.remove(session) });
    const person = clients.openPerson("you", (agent) => this.#calls.add(agent, true));
    const services = this.#servicesOf(person, agents, keeper);
    this.#person = { tools: person, watch: services.watch };
    this.#server.serve(this.#guard, services);
  }

  /** Ends the page and the person's connection to the image. Never rejects. */
  async close(): Promise<void> {
    this.#file?.remove();
    this.#feed.close();
    this.#person?.tools.cutOff();
    await this.#server.close();
    await this.#person?.watch.close();
    this.#person?.tools.agent.close();
    this.#log("page: closed");
  }

  /** What the page answers, with the person's own connection to the image. */
  #servicesOf(person: ToolServer, agents: Neighbours, keeper: ImageHost | undefined) {
    const { command, pageReadOnly: isReadOnly, verbose } = this.#config;
    const feed = this.#feed;
    const { mode } = feed.state.server;
    const stops = new PageStops();
    const onDefect = defectReporter(this.#log, verbose);
    const served = () => agents.all.map(({ session }) => session);
    const { host } = person.agent;
    // A page that is attached to an image of its own choice need not wait until agents have one.
    const imageKind = () => (command === "page" ? "open" : imageKindOf(keeper, served()));
    const onStops = () => this.#calls.refresh();
    const watch = new ImageWatch({ mode, feed, host, stops, served, imageKind, onStops, isReadOnly, onDefect });
    const session = (signal: AbortSignal) => watch.session(signal);
    const callText = (id: string) => watch.record.text(id) ?? this.#calls.text(id);
    const looks = new PageLooks({ session, callText, stops, isReadOnly, onDefect });
    const acts = new PageActs({ person, watch, stops, served: () => this.#calls.agents, isReadOnly, onDefect });
    const look: PageServices["look"] = (sent, signal) => looks.answer(sent, signal);
    const act: PageServices["act"] = (sent, signal) => acts.answer(sent, signal);
    return { feed, isReadOnly, watch, look, act };
  }
}

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
    const path = await keepWhileRunning(cacheDir, { name: `page-${port}`, ending: ".url" }, `${address}\n`);
    return path === undefined ? undefined : new KeptAddress(path);
  }

  remove(): void {
    process.off("exit", this.#remove);
    this.#remove();
  }
}
