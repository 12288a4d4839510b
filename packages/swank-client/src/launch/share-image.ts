import { decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** The result of sharing an image. */
export type Sharing =
  | { readonly status: "shared"; readonly port: number }
  /** Another program listens on the port. */
  | { readonly status: "in-use" }
  | { readonly status: "failed"; readonly message: string };

const { integer, map, string, tagged, tuple } = decode;

/**
 * Makes an image that `launchImage` started serve other clients, such as the user's Emacs, on a port of 127.0.0.1. A client that is let in
 * can do anything with this user's rights. A connection that does not send the secret is closed after 10 s and disturbs no other.
 *
 * The image still ends with the process that launched it.
 */
export const shareImage = lispFunction({
  name: "swank-client/launch:share",
  /**
   * @param port - 0 for any free port.
   * @param secretFile - Absolute path of the file whose first line clients must send, see `findShareSecret`. `undefined` lets every user of
   * this machine in.
   */
  encode: (port: number, secretFile: string | undefined) => [port, secretFile ?? NIL],
  decode: tagged({
    shared: map(tuple(integer), ([port]): Sharing => ({ status: "shared", port })),
    "in-use": map(tuple(), (): Sharing => ({ status: "in-use" })),
    failed: map(tuple(string), ([message]): Sharing => ({ status: "failed", message })),
  }),
});
