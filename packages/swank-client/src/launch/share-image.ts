import { decode, list, NIL, symbol } from "sexp-parser";
import type { Command } from "../commands/command.js";

/** Whether others can connect to an image. */
export type Sharing =
  | { readonly status: "shared"; readonly port: number }
  /** Something else listens there. */
  | { readonly status: "in-use" }
  | { readonly status: "failed"; readonly message: string };

const { integer, map, string, tagged, tuple } = decode;

/**
 * Has an image that `launchImage` started serve others too, on a port of 127.0.0.1: a person's Emacs, or another program. Whoever is let in
 * can do anything, with this user's rights. A connection that does not send the secret is closed after 10 seconds, and disturbs no other.
 *
 * The image still ends with the process that launched it.
 */
export const shareImage = {
  name: "swank-client.launch:share",
  /**
   * @param port - 0 for any free one.
   * @param secretFile - Absolute path of the file whose first line must be sent, see `findShareSecret`; `undefined`: every user of this
   * machine is let in.
   */
  encode: (port: number, secretFile: string | undefined) =>
    list(symbol("swank-client.launch:share"), port, secretFile ?? NIL),
  decode: tagged({
    shared: map(tuple(integer), ([port]): Sharing => ({ status: "shared", port })),
    "in-use": map(tuple(), (): Sharing => ({ status: "in-use" })),
    failed: map(tuple(string), ([message]): Sharing => ({ status: "failed", message })),
  }),
} satisfies Command<[port: number, secretFile: string | undefined], Sharing>;
