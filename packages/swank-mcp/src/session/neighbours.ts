import type { ApprovalRequest, Approvals, Ask } from "./approvals.js";
import type { AgentName, ImageHost, LispSession } from "./image.js";

/** An agent as others of its server know it. */
export interface Neighbour {
  readonly name: AgentName;
  readonly host: ImageHost;
  readonly approvals: Approvals;
  /** Asks the agent's user while the agent makes no call; `undefined` while its client cannot. */
  readonly askUser: Ask | undefined;
}

/** The agents that one server serves on one image, with the person behind each: an identity, of which there may be several agents. */
export class Neighbours {
  readonly #persons = new Map<Neighbour, string>();
  readonly #onLeft: (agent: Neighbour) => void;

  constructor(onLeft: (agent: Neighbour) => void = () => undefined) {
    this.#onLeft = onLeft;
  }

  add(agent: Neighbour, person: string): void {
    this.#persons.set(agent, person);
  }

  remove(agent: Neighbour): void {
    if (this.#persons.delete(agent)) this.#onLeft(agent);
  }

  /**
   * The agent of another person in whose debugger the request's thread is stopped, or whose code the thread runs.
   *
   * @throws SwankError - the error of listing the thread.
   */
  async ownerOf(
    { owner, stop, thread }: ApprovalRequest,
    asking: Neighbour,
    { client }: LispSession,
  ): Promise<Neighbour | undefined> {
    if (owner === undefined) return undefined;
    const person = this.#persons.get(asking);
    for (const [agent, theirs] of this.#persons) {
      const session = theirs === person ? undefined : await agent.host.current();
      if (session === undefined || session.client.info.pid !== client.info.pid) continue;
      const isOwner = stop === undefined ? await runs(session, thread) : isStoppedIn(session, stop);
      if (isOwner) return agent;
    }
    return undefined;
  }
}

function isStoppedIn({ client }: LispSession, { thread, level }: { readonly thread: number; readonly level: number }) {
  return client.stops.some((stop) => stop.thread === thread && stop.level === level);
}

async function runs({ client }: LispSession, thread: number | undefined): Promise<boolean> {
  if (thread === undefined) return false;
  const { threads } = await client.program.threads({ id: thread });
  return threads.some(({ whose }) => whose === "evaluation" || whose === "code");
}
