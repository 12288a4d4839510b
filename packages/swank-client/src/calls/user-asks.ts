import { type Decoder, decode } from "sexp-parser";

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
