import { decode, list, symbol } from "sexp-parser";
import type { Command } from "../commands/command.js";

/** Whether others can connect to an image. */
export type Sharing =
  | { readonly status: "shared"; readonly port: number }
  /** Something else listens there. */
  | { readonly status: "in-use" }
  | { readonly status: "failed"; readonly message: string };

const { integer, map, string, tagged, tuple } = decode;

/**
 * Has an image that `launchImage` started serve others too, on a port of 127.0.0.1: a person's Emacs, with `M-x slime-connect`. Whoever can
 * connect to the port can do anything; Swank asks for the secret if the user has a `~/.slime-secret`.
 *
 * The image still ends with the process that launched it.
 */
export const shareImage = {
  name: "swank-client.launch:share",
  /** @param port - 0 for any free one. */
  encode: (port: number) => list(symbol("swank-client.launch:share"), port),
  decode: tagged({
    shared: map(tuple(integer), ([port]): Sharing => ({ status: "shared", port })),
    "in-use": map(tuple(), (): Sharing => ({ status: "in-use" })),
    failed: map(tuple(string), ([message]): Sharing => ({ status: "failed", message })),
  }),
} satisfies Command<[port: number], Sharing>;
