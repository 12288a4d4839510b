import { decode, read } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";

const STATES = ["running", "stopped", "asking"] as const;

/** Something that an agent does in the image now. */
export interface RunningCall {
  /** The agent's name, as the user's Emacs shows it. */
  readonly agent: string;
  /** Swank's id of the thread; `undefined` if the call has none of its own. */
  readonly thread: number | undefined;
  /** `evaluate`, `approval` for a question to the user, or another function of the runtime. */
  readonly operation: string;
  /** The first line of the code, at most 60 characters. */
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly begun: number;
  readonly state: (typeof STATES)[number];
  /** Whether it is a call of the client that asks. */
  readonly isMine: boolean;
}

const { boolean, integer, list, map, nullable, string, tuple } = decode;

const call = map(
  tuple(string, nullable(integer), string, string, integer, keywordOf(STATES), boolean),
  ([agent, thread, operation, code, begun, state, isMine]): RunningCall => ({
    agent,
    thread,
    operation,
    code,
    begun,
    state,
    isMine,
  }),
);

/** Asks every version of the runtime in the image, and loads none (lisp/activity/meeting-place.lisp). */
const FORM = read(
  `(cl:loop for (protocol cl:nil answer) in (cl:car (cl:get :swank-mcp :runtimes))
            for calls = (cl:and (cl:eql protocol 1) (cl:ignore-errors (cl:funcall answer :running)))
            when (cl:listp calls) append calls)`,
);

/** What the agents of the image do now, as far as they are recorded. */
export const runningCalls = lispFunction({
  name: "cl:identity",
  label: () => "listing what agents run",
  encode: () => [FORM],
  decode: list(call),
  timeout: 5000,
});
