import type { Decoder } from "sexp-parser";

/** A decoder for each of these messages, under its name on the wire, which is also its `type`. */
export type MessageDecoders<Message extends { readonly type: string }> = {
  readonly [Type in Message["type"]]: Decoder<Extract<Message, { readonly type: Type }>>;
};
