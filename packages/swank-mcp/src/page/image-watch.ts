import type { types } from "swank-client";
import { settledWithin } from "../base/lifetime.js";
import { type OnDefect, reasonOf } from "../base/log.js";
import { isDefect } from "../base/refusals.js";
import type { AgentSession } from "../session/agent.js";
import { isUnanswered } from "../session/hung-image.js";
import type { ImageHost, ImageState, LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, oneLine } from "../text/cut.js";
import type { Feed } from "./feed.js";
import type { PageImage, PageMode, PageStop } from "./model.js";
import { RecordView } from "./record.js";
import { PageRefusal } from "./reply.js";
import type { PageStops } from "./stops.js";

/** How often the page looks after its connection, in milliseconds. */
const TICK = 1000;

/** Milliseconds between something that agents do and a look at the stops: agents may do much at once. */
const SOON = 100;

/** Ticks between two looks at the stops, and at the size of the image. */
const STOPS_TICKS = 2;

const STATE_TICKS = 5;

/** Most milliseconds between two tries to connect. */
const LONGEST_PAUSE = 10_000;

/** Milliseconds for which the connection stays open when nobody watches. */
const GRACE = 30_000;

/** Milliseconds in which a served agent's connection must say how the image calls it. */
const NAME_TIME = 3000;

/** Most characters of a reason. */
const MAX_WHY = 500;

/** Why there is no image to connect to, once one was looked for. */
const ENDED = "The image has ended, or cannot be reached or started. The next call of an agent tries again.";

const UNANSWERED = "The image does not answer: the figures were read earlier.";

/** What the page's own connection to the image is made and used with. */
export interface WatchParts {
  readonly mode: PageMode;
  readonly feed: Feed;
  /** The page's own host. */
  readonly host: ImageHost;
  readonly stops: PageStops;
  /** The agents of this server; none in mode `image`. */
  served(): readonly AgentSession[];
  /** What is known of the image that agents use. The page launches none. */
  imageKind(): ImageState["kind"];
  /** Called when the stops have changed. */
  onStops?(): void;
  /** Whether the person may answer questions here. */
  readonly isReadOnly: boolean;
  readonly onDefect: OnDefect;
}

/** What is known of the image that the agents of a server use: that of the host that keeps a launched one, or of one of theirs. */
export function imageKindOf(keeper: ImageHost | undefined, served: readonly AgentSession[]): ImageState["kind"] {
  const kinds = keeper === undefined ? served.map(({ host }) => host.state.kind) : [keeper.state.kind];
  return (["open", "connecting", "lost", "failed"] as const).find((kind) => kinds.includes(kind)) ?? "none";
}

/** A connection to the image while the page follows what happens there. */
interface Following {
  readonly session: LispSession;
  /** `undefined` until the record is followed. */
  record: types.FollowedAgents | undefined;
  /** Whether calls are followed. */
  hasCalls: boolean;
  isBeginning: boolean;
  isListingStops: boolean;
  /** Something has happened since the stops began to be listed. */
  mustListAgain: boolean;
  isMeasuring: boolean;
  size: types.ImageState | undefined;
  /** Why a question was not answered; `undefined` once one is. */
  trouble: string | undefined;
}

/** Shows the image while somebody watches: its record of agents, stopped threads, questions, and its size. */
export class ImageWatch {
  readonly record: RecordView;
  readonly #parts: WatchParts;
  /** The served agents by the names under which the image records them. */
  #servedNames: ReadonlyMap<string, AgentSession> = new Map();
  #following: Following | undefined;
  #ticks = 0;
  #ticker: NodeJS.Timeout | undefined;
  #leaveTimer: NodeJS.Timeout | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #isConnecting = false;
  #pause = 0;
  #nextTry = 0;
  #publishedImage = "";
  #isConnectingShown = false;
  #publishedStops = "[]";
  /** The stops whose reasons have been asked for. */
  readonly #asked = new WeakSet<DebuggedStop>();
  readonly #watchedSessions = new WeakSet<LispSession>();
  readonly #closing = new AbortController();

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.record = new RecordView(parts.feed, parts.mode, (agent) => this.#servedNames.has(agent));
    parts.host.onSession((session) => this.#follow(session));
    parts.feed.onWatch((isWatched) => this.#setWatched(isWatched));
  }

  /**
   * The page's session with the image that agents use.
   *
   * @throws PageRefusal `NO_IMAGE`; the errors of `ImageHost.session`.
   */
  async session(signal: AbortSignal): Promise<LispSession> {
    const { host } = this.#parts;
    if (host.state.kind !== "open" && this.#parts.imageKind() !== "open")
      throw new PageRefusal("NO_IMAGE", "There is no image: no agent has needed one yet, or it has ended.");
    const session = await host.session(signal);
    if (!this.#parts.feed.isWatched) this.#leaveLater();
    return session;
  }

  /** The agent of this server that the image records under this name. */
  servedAs(name: string | undefined): AgentSession | undefined {
    return name === undefined ? undefined : this.#servedNames.get(name);
  }

  /** Looks at the stops soon, because something has been done. */
  refresh(): void {
    this.#listTimer ??= setTimeout(() => {
      this.#listTimer = undefined;
      if (this.#following !== undefined) void this.#listStops(this.#following);
    }, SOON).unref();
  }

  /** Ends the page's connection. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#ticker);
    clearTimeout(this.#leaveTimer);
    clearTimeout(this.#listTimer);
    await this.#following?.record?.end();
    await this.#parts.host.close();
  }

  #setWatched(isWatched: boolean): void {
    clearInterval(this.#ticker);
    if (this.#closing.signal.aborted) return;
    if (isWatched) this.#come();
    else void this.#leave();
  }

  #come(): void {
    clearTimeout(this.#leaveTimer);
    this.#ticker = setInterval(() => this.#tick(), TICK).unref();
    this.#nextTry = 0;
    this.#ticks = 0;
    const { host } = this.#parts;
    if (host.state.kind === "open" && this.#following === undefined) this.#follow(host.state.session);
    this.#tick();
  }

  #tick(): void {
    if (this.#following === undefined) void this.#connect();
    else this.#look(this.#following);
  }

  #look(following: Following): void {
    if (following.record === undefined && this.#ticks % STATE_TICKS === 0) void this.#begin(following);
    if (this.#ticks % STOPS_TICKS === 0) void this.#listStops(following);
    if (this.#ticks % STATE_TICKS === 0) void this.#measure(following);
    this.#ticks += 1;
  }

  /** Connects if there is an image, and not too often. */
  async #connect(): Promise<void> {
    const { host } = this.#parts;
    const kind = this.#parts.imageKind();
    const isNew = kind === "connecting" || (kind === "open" && host.state.kind === "none");
    if (isNew) this.#publishImage({ state: "connecting" });
    else if (kind === "none" && this.#isConnectingShown) this.#publishImage({ state: "none" });
    else if (kind !== "open" && this.#isConnectingShown) this.#publishImage({ state: "lost", why: ENDED });
    if (this.#isConnecting || kind !== "open" || Date.now() < this.#nextTry) return;
    this.#isConnecting = true;
    try {
      await host.session(this.#closing.signal);
      this.#pause = 0;
    } catch (error) {
      this.#pause = Math.min(LONGEST_PAUSE, Math.max(TICK, 2 * this.#pause));
      this.#nextTry = Date.now() + this.#pause;
      this.#publishImage({ state: "lost", why: oneLine(reasonOf(error), MAX_WHY) });
    } finally {
      this.#isConnecting = false;
    }
  }

  #follow(session: LispSession): void {
    if (!this.#parts.feed.isWatched) {
      this.#leaveLater();
      return;
    }
    const following: Following = {
      session,
      record: undefined,
      hasCalls: this.#parts.mode === "image",
      isBeginning: false,
      isListingStops: false,
      mustListAgain: false,
      isMeasuring: false,
      size: undefined,
      trouble: undefined,
    };
    this.#following = following;
    this.#ticks = 0;
    session.client.on("stop", () => this.refresh());
    void session.client.closed.then(() => this.#lost(following));
    this.#showImage(following);
    this.#tick();
  }

  async #lost(following: Following): Promise<void> {
    if (this.#following !== following) return;
    this.#following = undefined;
    this.record.lost();
    this.#publishStops([]);
    const { isRetired, explainLoss } = following.session;
    const image: PageImage = isRetired
      ? { state: "connecting" }
      : { state: "lost", why: oneLine(await explainLoss(), MAX_WHY) };
    if (this.#following === undefined) this.#publishImage(image);
  }

  #leaveLater(): void {
    clearTimeout(this.#leaveTimer);
    this.#leaveTimer = setTimeout(() => {
      if (!this.#parts.feed.isWatched) void this.#leave();
    }, GRACE).unref();
  }

  /** Closes the connection, unless something that the person has begun still runs, or is stopped. */
  async #leave(): Promise<void> {
    const { host } = this.#parts;
    if (host.state.kind !== "open") return;
    const { session } = host.state;
    if (session.client.evaluations.length > 0) {
      this.#leaveLater();
      return;
    }
    await this.#following?.record?.end();
    // Somebody may have come meanwhile.
    if (this.#parts.feed.isWatched && this.#following !== undefined) this.#following.record = undefined;
    else await host.disconnect(session);
  }

  /** Begins to follow the image's record. Failing that, the next tick tries again. */
  async #begin(following: Following): Promise<void> {
    if (following.isBeginning) return;
    following.isBeginning = true;
    const { session } = following;
    let told = Promise.resolve();
    const tell = (event: types.AgentEvent) => {
      told = told.then(() => this.#receive(following, event)).catch(this.#parts.onDefect);
    };
    try {
      const options = { questions: !this.#parts.isReadOnly, calls: following.hasCalls };
      const record = await session.client.activity.follow(options, tell);
      const learning = this.#learnNames();
      told = learning.then(() => this.record.begin(session.identity, record.ledger)).catch(this.#parts.onDefect);
      following.record = record;
      await told;
      await this.#followCallsOfOthers(following);
    } catch (error) {
      this.#note(following, error);
    } finally {
      following.isBeginning = false;
    }
  }

  async #receive(following: Following, event: types.AgentEvent): Promise<void> {
    if (event.type === "agents" || event.type === "ledger") await this.#learnNames();
    if (this.#following !== following) return;
    this.record.receive(event);
    if (event.type === "agents") await this.#followCallsOfOthers(following);
    if (event.type === "stop" || event.type === "resume" || event.type === "end") this.refresh();
  }

  /**
   * Follows calls once an agent of another server uses the image, from the next look at it. The calls of this server's agents are known without that,
   * which would make them slower.
   */
  async #followCallsOfOthers(following: Following): Promise<void> {
    if (following.hasCalls || this.record.names.length === 0) return;
    following.hasCalls = true;
    await following.record?.end();
    following.record = undefined;
    this.#ticks = 0;
  }

  /** Learns how the image calls the agents of this server, whose calls are known without it. */
  async #learnNames(): Promise<void> {
    const named = this.#parts.served().map(async (agent) => {
      const session = agent.host.state.kind === "open" ? agent.host.state.session : undefined;
      if (session !== undefined) this.#watchStops(session);
      const asked = session?.client.activity.recordedName().catch(() => undefined);
      const name = asked && (await settledWithin(NAME_TIME, asked))?.value;
      return name === undefined ? [] : [[name, agent] as const];
    });
    this.#servedNames = new Map((await Promise.all(named)).flat());
  }

  /** Looks at the stops when an agent of this server stops. */
  #watchStops(session: LispSession): void {
    if (this.#watchedSessions.has(session)) return;
    this.#watchedSessions.add(session);
    session.client.on("stop", () => this.refresh());
  }

  async #listStops(following: Following): Promise<void> {
    following.mustListAgain = following.isListingStops;
    if (following.isListingStops) return;
    following.isListingStops = true;
    const { stops } = this.#parts;
    try {
      const listed = await stops.list(following.session);
      following.trouble = undefined;
      if (this.#following !== following) return;
      this.#publishStops(listed.map((stop) => stops.data(stop)));
      for (const stop of listed) void this.#openOnce(stop);
    } catch (error) {
      this.#note(following, error);
    } finally {
      following.isListingStops = false;
    }
    if (following.mustListAgain) await this.#listStops(following);
  }

  /** Asks a stop in another client's debugger for its reason, once: a list does not have it. */
  async #openOnce(stop: DebuggedStop): Promise<void> {
    if (stop.owner === undefined || this.#asked.has(stop)) return;
    this.#asked.add(stop);
    const opened = await stop.open().catch(() => undefined);
    if (opened !== undefined) this.refresh();
  }

  async #measure(following: Following): Promise<void> {
    if (following.isMeasuring) return;
    following.isMeasuring = true;
    try {
      following.size = await following.session.client.program.state();
      following.trouble = undefined;
    } catch (error) {
      this.#note(following, error);
    } finally {
      following.isMeasuring = false;
    }
    if (this.#following === following) this.#showImage(following);
  }

  /** Notes why a question was not answered. The end of the connection is reported by itself. */
  #note(following: Following, error: unknown): void {
    if (!following.session.client.isOpen) return;
    if (isDefect(error)) this.#parts.onDefect(error);
    following.trouble = isUnanswered(error) ? UNANSWERED : oneLine(reasonOf(error), MAX_WHY);
    if (this.#following === following) this.#showImage(following);
  }

  #showImage({ session, size, trouble }: Following): void {
    const { implementation, pid } = session.client.info;
    const { origin } = session;
    this.#publishImage({
      state: "open",
      ...(trouble === undefined ? {} : { why: trouble }),
      implementation: `${implementation.type} ${implementation.version}`,
      ...(pid === undefined ? {} : { pid }),
      ...(origin.kind === "attached" ? { address: origin.address } : {}),
      package: cutName(session.packageName),
      ...(size === undefined
        ? {}
        : { memory: { used: size.used, size: size.size }, threads: size.threads, clients: size.clients }),
    });
  }

  #publishImage(image: PageImage): void {
    const text = JSON.stringify(image);
    if (text === this.#publishedImage) return;
    this.#publishedImage = text;
    this.#isConnectingShown = image.state === "connecting";
    this.#parts.feed.image(image);
  }

  #publishStops(stops: readonly PageStop[]): void {
    const text = JSON.stringify(stops);
    if (text === this.#publishedStops) return;
    this.#publishedStops = text;
    this.#parts.feed.stops(stops);
    this.#parts.onStops?.();
  }
}
