import { keyword, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { type AskReply, askStop } from "../calls/ask-stop.js";
import type { ForeignStopData } from "../calls/foreign-stops.js";
import { requestFailed } from "../lisp/caller.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import type { SendOptions } from "../lisp/place.js";
import type { Reply } from "../protocol/wire/messages.js";
import { leftLatch } from "./debugger-levels.js";
import type { StopChannel } from "./stop-channel.js";

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 15_000;
/** Milliseconds that the image then has to interrupt the form and report it. */
const INTERRUPT_TIME = 15_000;

const STALE: Reply = { status: "ok", value: [keyword("stale")] };

/** The channel to a stop in another client's debugger. Each request interrupts the thread; the end of the stop is not announced. */
export class ForeignChannel implements StopChannel {
  /** Only an evaluation of this client asks for it. */
  readonly isLeaving = false;
  readonly #stop: ForeignStopData;
  readonly #lisp: LispRunner;
  readonly left = leftLatch();

  constructor(stop: ForeignStopData, lisp: LispRunner) {
    this.#stop = stop;
    this.#lisp = lisp;
  }

  /** Marks the stop as ended, after a reply or a listing has shown that the thread left it. */
  end(): void {
    this.left.open();
  }

  async send(form: Sexp, { label, mayLeave, timeout = ANSWER_TIME }: SendOptions): Promise<Reply> {
    const lisp = this.#lisp.with({ timeout: timeout + INTERRUPT_TIME });
    const reply = await lisp.run(askStop, this.#stop.number, mayLeave, timeout, form, label);
    if (reply.kind === "left" || reply.kind === "stale") this.end();
    if (reply.kind === "left" && mayLeave) return { status: "abort", condition: "NIL" };
    return this.#answer(reply, label);
  }

  #answer(reply: AskReply, label: string): Reply {
    const { thread, owner } = this.#stop;
    switch (reply.kind) {
      case "value":
        return { status: "ok", value: reply.value };
      case "left":
      case "stale":
        return STALE;
      case "silent":
        throw new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} does not answer.`, {
          remedy: `It runs without interrupts, or waits in foreign code. Nothing was done there, and the request was withdrawn. Look at it in ${owner.text}, or try again.`,
        });
      case "interrupted":
        throw new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} took too long and was interrupted.`, {
          remedy: `It may wait for a lock that another thread holds. The stop is unchanged: look at it in ${owner.text}, or try again.`,
        });
      case "failed":
        throw requestFailed(label, reply);
    }
  }
}
