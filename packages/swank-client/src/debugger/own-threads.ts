import { type Decoder, decode } from "sexp-parser";
import { decodedIfKnown } from "../lisp/decoders.js";
import type { WriteStringMessage } from "../protocol/wire/messages.js";

const { integer, map, plist, string, tagged, tuple } = decode;

/** A thread started by this client's code that an error ended. */
export interface EndedThread {
  /** Swank's id of the thread. */
  readonly thread: number;
  readonly threadName: string;
  /** The condition's type and message. */
  readonly type: string;
  readonly message: string;
  /** The lock that the thread held, because of which it could not stop, e.g. `the lock on packages`; absent if it held none. */
  readonly held?: string;
}

/** `(:ended PLIST)`, the target of a message of lisp/evaluate/own-threads.lisp. */
const endedThread: Decoder<EndedThread> = tagged({
  ended: map(
    tuple(plist({ thread: integer, name: string, type: string, message: string, held: string })),
    ([{ name, held, ...rest }]): EndedThread => ({ ...rest, threadName: name, ...(held !== "" && { held }) }),
  ),
});

/** Reads the ended thread from a message; `undefined` for a message about something else. */
export function readEndedThread({ target }: WriteStringMessage): EndedThread | undefined {
  return decodedIfKnown(endedThread, target);
}
