import { type Decoder, decode } from "sexp-parser";
import { SwankError } from "../base/errors.js";

/** Something that a user of the image asks the agent to look at, in Emacs with swank-mcp.el. */
export interface UserRequest {
  readonly text: string;
  /** What the user had before them, e.g. `12/1, frame 2` for a stop, or a file with its line; `undefined` if it is not about a place. */
  readonly place: string | undefined;
}

const { map, nullable, plist, string, tagged, tuple } = decode;

/** `(:user-asks PLIST)`, the target of a message of lisp/activity/user-requests.lisp. */
export const userAsks: Decoder<UserRequest> = tagged({
  "user-asks": map(tuple(plist({ text: string, place: nullable(string) })), ([request]) => request),
});

/** `(:kicked)`, the target of a message of lisp/activity/kick.lisp, as the reason for which the connection ends. */
export const kick: Decoder<SwankError> = tagged({
  kicked: map(tuple(), () => {
    const message = "The user has disconnected all agents, with M-x swank-mcp-kick in Emacs.";
    return new SwankError("CONNECTION_LOST", message, { details: { kicked: true } });
  }),
});
