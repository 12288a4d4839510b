import type { types } from "swank-client";
import type { Log } from "../base/log.js";
import type { LispClient } from "./lisp-port.js";

/** Counts the faults of swank-client's own code in an image, and logs each once. */
export class FaultCounter {
  readonly #client: Pick<LispClient, "faults">;
  #log: Log = () => undefined;
  #logged = 0;
  #asking: Promise<number> | undefined;

  constructor(client: Pick<LispClient, "faults">) {
    this.#client = client;
  }

  /** Logs the faults that are found from now on. */
  logTo(log: Log): void {
    this.#log = log;
  }

  /**
   * Returns the number of faults since the first one.
   *
   * @throws SwankError `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  count(): Promise<number> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<number> {
    const faults = await this.#client.faults();
    for (const fault of faults) if (fault.number > this.#logged) this.#log(faultLine(fault));
    this.#logged = faults.at(-1)?.number ?? 0;
    return this.#logged;
  }
}

function faultLine({ number, time, type, text, functions }: types.Fault): string {
  const place = functions.length === 0 ? "" : ` in ${functions.join(", called by ")}`;
  return `internal fault ${number}, ${new Date(time).toISOString()}: ${type}${place}${text === "" ? "" : `: ${text}`}`;
}
