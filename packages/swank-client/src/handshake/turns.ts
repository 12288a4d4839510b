import { onLimit } from "../base/waiting.js";

/** Connections that Swank lets wait until it accepts them (swank/sbcl.lisp, `create-socket`). */
const MOST_UNANSWERED = 5;

/** Limits on waiting for a turn. */
interface TurnLimits {
  /** Milliseconds after which an attempt waits no longer. */
  readonly patience: number;
  readonly signal?: AbortSignal | undefined;
}

/** The attempts of this process to connect to one server. */
class Turns {
  /** The number of attempts that the server has not answered. */
  #unanswered = 0;
  /** Called to give an attempt that waits the turn of one that was answered. */
  readonly #waiting = new Set<() => void>();

  get areOver(): boolean {
    return this.#unanswered === 0;
  }

  async begin(limits: TurnLimits): Promise<void> {
    const isGiven = this.#unanswered >= MOST_UNANSWERED && (await this.#wait(limits));
    if (!isGiven) this.#unanswered += 1;
  }

  end(): void {
    const [next] = this.#waiting;
    if (next !== undefined && this.#unanswered <= MOST_UNANSWERED) next();
    else this.#unanswered -= 1;
  }

  /** @returns false if a limit was reached before there was a turn */
  #wait({ patience, signal }: TurnLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isGiven: boolean) => {
        forget();
        this.#waiting.delete(onTurn);
        resolve(isGiven);
      };
      const onTurn = () => end(true);
      const forget = onLimit({ timeout: patience, signal }, () => end(false));
      this.#waiting.add(onTurn);
      if (signal?.aborted) end(false);
    });
  }
}

const servers = new Map<string, Turns>();

/**
 * Makes an attempt to connect to a server when few others of this process wait for its answer. The system drops connections for which there is no
 * room, and sends all of them again at the same times, seconds later: some of a hundred that begin at once would take longer than they may.
 *
 * @param server - `undefined`: nothing waits.
 * @param connect - Settles when the server has answered.
 */
export async function inTurn<Result>(
  server: string | undefined,
  limits: TurnLimits,
  connect: () => Promise<Result>,
): Promise<Result> {
  if (server === undefined) return connect();
  const turns = servers.get(server) ?? new Turns();
  servers.set(server, turns);
  await turns.begin(limits);
  try {
    return await connect();
  } finally {
    turns.end();
    if (turns.areOver) servers.delete(server);
  }
}
