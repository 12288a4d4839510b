import type { Config } from "../cli/config.js";
import { OwnEvaluations } from "../evaluation/own-evaluations.js";
import { AgentName } from "../image/agent-name.js";
import type { ImageHost, ImageUser } from "../image/image-host.js";
import { innermost } from "../image/innermost.js";
import type { DebuggedStop, EndedThread, HitElsewhere, UserRequest } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import { oneLine } from "../text/cut.js";
import { Approvals } from "./approvals.js";
import { isForeign } from "./foreign.js";
import { ImageRecord } from "./image-record.js";
import { KeptOutputs } from "./kept-outputs.js";
import { LastError } from "./last-error.js";
import { Notices } from "./notices.js";
import { StopKeeper } from "./stop-keeper.js";
import { UserRequests } from "./user-requests.js";

/** Characters of an error's message in a notice. */
const MAX_MESSAGE = 200;

/** An agent's package and stops, as a prompt shows them. */
export interface Place {
  readonly packageName: string;
  /** `thread/level` of each stop, the latest last. */
  readonly stops: readonly string[];
}

/** The state of one client. Several clients can use one image at once without disturbing each other. */
export class AgentSession implements ImageUser {
  readonly host: ImageHost;
  readonly config: Config;
  /** The client's name, for people who share its image. */
  readonly name: AgentName;
  readonly lastError = new LastError();
  readonly notices = new Notices();
  readonly userRequests = new UserRequests(this.notices);
  readonly evaluations = new OwnEvaluations();
  readonly outputs = new KeptOutputs();
  readonly stops: StopKeeper;
  readonly approvals: Approvals;
  readonly record: ImageRecord;
  readonly #leave: () => void;
  /** How many characters of a process's own output this agent has been told about. */
  readonly #toldOutput = new WeakMap<LispSession, number>();

  /** @param name - Also known to the function that opens the image. */
  constructor(host: ImageHost, config: Config, name = new AgentName()) {
    this.name = name;
    this.host = host;
    this.config = config;
    this.stops = new StopKeeper(config, this.notices);
    this.record = new ImageRecord(host, config);
    this.approvals = new Approvals(config.approval, this.record);
    this.#leave = host.join(this);
  }

  /** The live stops that this agent sees: those of its own evaluations and those of threads that run no evaluation. */
  stopsIn({ client }: LispSession): readonly DebuggedStop[] {
    return client.stops.filter((stop) => this.#concerns(stop));
  }

  /** The agent's package and stops, without asking Lisp; `undefined` while there is no session. */
  async place(): Promise<Place | undefined> {
    const session = await this.host.current();
    if (session === undefined) return undefined;
    const stops = innermost(this.stopsIn(session)).map(({ thread, level }) => `${thread}/${level}`);
    return { packageName: session.packageName, stops };
  }

  /** Symbols with this prefix, as code in the session's package writes them; none if Lisp does not answer. Never rejects. */
  async complete(prefix: string): Promise<readonly string[]> {
    const session = await this.host.current();
    return session?.client.completions(prefix, session.packageName).catch(() => []) ?? [];
  }

  /** The number of characters that the image's process has written to its own stdout and stderr since the last call of this function. */
  takeProcessOutput(session: LispSession): number {
    const length = session.processOutput?.length ?? 0;
    const told = this.#toldOutput.get(session) ?? session.outputAtStart;
    this.#toldOutput.set(session, length);
    return length - told;
  }

  onNotice(notice: string): void {
    this.notices.add(notice);
  }

  onStop(stop: DebuggedStop, session: LispSession): void {
    // A thread that this server has stopped must go on after a while, also if it belongs to another client.
    if (this.#concerns(stop)) this.stops.arrived(stop, stop.reason !== "interrupt" && isForeign(stop, session));
  }

  onHitElsewhere(hit: HitElsewhere): void {
    this.stops.saw(hit.thread);
    this.notices.add(hitNotice(hit), "breakpoint hit", hitAdvice(hit));
  }

  onThreadEnded(ended: EndedThread): void {
    this.notices.add(endNotice(ended), "ended thread");
  }

  onUserAsks(request: UserRequest): void {
    this.userRequests.add(request);
  }

  /** The client has disconnected: ends its stops, except those that other clients of this server also see. */
  close(): void {
    this.#leave();
    this.stops.endAll(this.host.hasUsers);
  }

  #concerns({ evaluation }: DebuggedStop): boolean {
    return evaluation === undefined || this.evaluations.has(evaluation);
  }
}

function endNotice({ thread, threadName, type, message, held }: EndedThread): string {
  const why = held === undefined ? "" : ` while it held ${held}, so that it could not stop`;
  return `Thread ${thread} (${threadName}), started by your code, was ended by ${type}${why}: ${oneLine(message, MAX_MESSAGE)}`;
}

function hitNotice({ breakpoint, function: name, thread, threadName, owner }: HitElsewhere): string {
  return `Breakpoint ${breakpoint} on ${name} stopped thread ${thread} (${threadName}) in ${owner.text}; the user continues it there.`;
}

function hitAdvice({ thread }: HitElsewhere): string {
  return `To look at it, call debugger_frames with thread "${thread}".`;
}
