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
  readonly #latest: { readonly sentence: string; readonly stop: string | undefined }[] = [];

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  /** The latest, oldest first, as sentences. @param isOpen - Whether a stop, `thread/level`, still exists; requests about others are forgotten. */
  latest(isOpen: (stop: string) => boolean): readonly string[] {
    const open = this.#latest.filter(({ stop }) => stop === undefined || isOpen(stop));
    this.#latest.splice(0, this.#latest.length, ...open);
    return open.map(({ sentence }) => sentence);
  }

  add({ text, place }: UserRequest): void {
    const sentence = `The user asks: ${text}${place === undefined ? "" : `, at ${place}`}`;
    const [stop] = STOP.exec(place ?? "") ?? [];
    this.#latest.push({ sentence, stop });
    if (this.#latest.length > MAX_KEPT) this.#latest.shift();
    if (stop === undefined) this.#notices.add(sentence, KIND);
    else this.#notices.add(`${sentence}.`, KIND, `To look at it, call debugger_frames with thread "${stop}".`);
  }
}
