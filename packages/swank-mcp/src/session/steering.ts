import { Refusal } from "../base/refusals.js";

/** Whether an agent may call tools: `paused` lets its calls wait, `out` refuses them. */
export type SteeringState = "free" | "paused" | "out";

/** Milliseconds for which a call waits: many hosts give a call up after 60 s. */
const PATIENCE = 50_000;

const REMINDER = 5000;

const WAITING = "The user has paused this agent.";

interface WaitingCall {
  readonly signal: AbortSignal;
  progress(text: string): void;
}

/** The user's hand on one agent: lets its calls go on, wait, or end. Knows nothing of who the user is and how the user is reached. */
export class Steering {
  #state: SteeringState = "free";
  #out = new AbortController();
  readonly #listeners = new Set<(state: SteeringState) => void>();

  get state(): SteeringState {
    return this.#state;
  }

  /** Aborted when the agent is thrown out; another one after it was let back. */
  get ended(): AbortSignal {
    return this.#out.signal;
  }

  /** Lets the agent's next calls wait. Running ones go on. */
  pause(): void {
    if (this.#state === "free") this.become("paused");
  }

  resume(): void {
    if (this.#state === "paused") this.become("free");
  }

  /** Ends all that the agent does, and refuses its calls. */
  throwOut(): void {
    this.become("out");
  }

  letBack(): void {
    if (this.#state === "out") this.become("free");
  }

  /** Does whatever of these leads to the state. */
  become(state: SteeringState): void {
    if (state === this.#state) return;
    if (this.#state === "out") this.#out = new AbortController();
    this.#state = state;
    if (state === "out") this.#out.abort();
    for (const listener of [...this.#listeners]) listener(state);
  }

  onChange(listener: (state: SteeringState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the call may run. @throws Refusal `PAUSED`, `THROWN_OUT`, `CANCELLED` */
  async admit({ signal, progress }: WaitingCall): Promise<void> {
    if (this.#state === "paused") {
      progress(WAITING);
      const reminder = setInterval(() => progress(WAITING), REMINDER);
      await this.#change(signal).finally(() => clearInterval(reminder));
    }
    if (this.#state === "out") throw thrownOut();
  }

  /** Resolves when the agent is no longer paused. @throws Refusal `PAUSED`, `CANCELLED` */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        unlisten();
        settle();
      };
      const cancel = () => end(() => reject(new Refusal("CANCELLED", "The call was cancelled; nothing was done.")));
      const timer = setTimeout(
        () => end(() => reject(new Refusal("PAUSED", `${WAITING} Nothing was done.`))),
        PATIENCE,
      );
      const unlisten = this.onChange((state) => {
        if (state !== "paused") end(resolve);
      });
      signal.addEventListener("abort", cancel);
      if (signal.aborted) cancel();
    });
  }
}

export function thrownOut(): Refusal {
  return new Refusal("THROWN_OUT", "The user has thrown this agent out.");
}
