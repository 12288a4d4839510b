import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

/**
 * Kinds of clients. `repl`: a client with a REPL for a person, usually Emacs. `swank-client`: a program that uses this library, such as
 * another swank-mcp. `other`: any other client. `gone`: a client whose connection is closed.
 */
export const OWNER_KINDS = ["repl", "swank-client", "other", "gone"] as const;

/** The other client whose debugger has a stopped thread. */
export interface StopOwner {
  readonly kind: (typeof OWNER_KINDS)[number];
  /** Number of the connection, from 1; unique while the client is connected. */
  readonly connection: number;
  /** The owner in words, e.g. `Emacs (Swank connection 1)`. */
  readonly text: string;
}

const WORDS: Readonly<Record<StopOwner["kind"], string>> = {
  repl: "Emacs",
  "swank-client": "another swank-mcp or swank-client",
  other: "another Swank client",
  gone: "a disconnected client",
};

const { integer, map, plist } = decode;

/** Decodes a plist of lisp/debugger/owners.lisp. */
export const stopOwner: Decoder<StopOwner> = map(
  plist({ kind: keywordOf(OWNER_KINDS), connection: integer }),
  ({ kind, connection }) => ({ kind, connection, text: `${WORDS[kind]} (Swank connection ${connection})` }),
);
