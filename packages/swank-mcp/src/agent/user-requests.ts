import type { UserRequest } from "../image/lisp-port.js";
import type { Notices } from "./notices.js";

/** Requests that lisp-status repeats. */
const MAX_KEPT = 5;

/** The kind of the notices. */
const KIND = "request of the user";

/** A stop, as `M-x swank-mcp-ask` in the debugger names it. */
const STOP = /^\d+\/\d+/;

/** What the user has asked for in Emacs. The next answer says so, and lisp-status repeats the latest. */
export class UserRequests {
  readonly #notices: Notices;
  readonly #latest: string[] = [];

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  /** The latest, oldest first, as sentences. */
  get latest(): readonly string[] {
    return this.#latest;
  }

  add({ text, place }: UserRequest): void {
    const sentence = `The user asks: ${text}${place === undefined ? "" : `, at ${place}`}`;
    this.#latest.push(sentence);
    if (this.#latest.length > MAX_KEPT) this.#latest.shift();
    const [stop] = STOP.exec(place ?? "") ?? [];
    if (stop === undefined) this.#notices.add(sentence, KIND);
    else this.#notices.add(`${sentence}.`, KIND, `To look at it, call debugger_frames with thread "${stop}".`);
  }
}
