import type { AgentSession } from "./agent.js";
import type { ApprovalRequest } from "./approval-prompt.js";
import type { LispSession } from "./image.js";
import type { SteeringState } from "./steering.js";

export interface ServedAgent {
  readonly session: AgentSession;
  /** The person behind it: an identity, of which there may be several agents. */
  readonly person: string;
}

export interface AgentsListener {
  added(agent: ServedAgent): void;
  removed(agent: ServedAgent): void;
}

/**
 * The agents that one server serves on one image. Those of one person with one name are steered together, and so is one that comes later: a client
 * that begins another session is still the agent that the user has paused or thrown out.
 */
export class Neighbours {
  readonly #agents = new Map<AgentSession, ServedAgent>();
  readonly #listeners = new Set<AgentsListener>();
  /** How agents are steered that are not free, by person and name. */
  readonly #steered = new Map<string, SteeringState>();

  get all(): readonly ServedAgent[] {
    return [...this.#agents.values()];
  }

  watch(listener: AgentsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  add(session: AgentSession, person: string): void {
    const agent = { session, person };
    session.steering.become(this.#steered.get(keyOf(agent)) ?? "free");
    session.steering.onChange((state) => this.#steer(agent, state));
    this.#agents.set(session, agent);
    for (const { added } of this.#listeners) added(agent);
  }

  remove(session: AgentSession): void {
    const agent = this.#agents.get(session);
    if (agent === undefined) return;
    this.#agents.delete(session);
    for (const { removed } of this.#listeners) removed(agent);
  }

  /** Steers all agents of the same person and name like this one. */
  #steer(agent: ServedAgent, state: SteeringState): void {
    const key = keyOf(agent);
    if (state === "free") this.#steered.delete(key);
    else this.#steered.set(key, state);
    for (const other of this.all) if (keyOf(other) === key) other.session.steering.become(state);
  }

  /** The agent of another person in whose debugger the request's thread is stopped, or whose code it runs. @throws SwankError - of listing the thread */
  async ownerOf(
    { owner, stop, thread }: ApprovalRequest,
    asking: AgentSession,
    { client }: LispSession,
  ): Promise<AgentSession | undefined> {
    if (owner === undefined) return undefined;
    const person = this.#agents.get(asking)?.person;
    for (const { session: agent, person: theirs } of this.all) {
      const session = theirs === person ? undefined : await agent.host.current();
      if (session === undefined || session.client.info.pid !== client.info.pid) continue;
      const isOwner = stop === undefined ? await runs(session, thread) : isStoppedIn(session, stop);
      if (isOwner) return agent;
    }
    return undefined;
  }
}

function keyOf({ session, person }: ServedAgent): string {
  return `${person} ${session.name.text}`;
}

function isStoppedIn({ client }: LispSession, { thread, level }: { readonly thread: number; readonly level: number }) {
  return client.stops.some((stop) => stop.thread === thread && stop.level === level);
}

async function runs({ client }: LispSession, thread: number | undefined): Promise<boolean> {
  if (thread === undefined) return false;
  const { threads } = await client.program.threads({ id: thread });
  return threads.some(({ whose }) => whose === "evaluation" || whose === "code");
}
