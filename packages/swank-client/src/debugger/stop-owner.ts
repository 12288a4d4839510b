/** Whose debugger a thread stands in, when it is not this client's. */
export interface StopOwner {
  /**
   * `repl`: a client in which a person has a REPL, Emacs as a rule. `swank-client`: a program that uses this library, such as another
   * swank-mcp. `other`: a client of which nothing is known. `gone`: one whose connection is closed.
   */
  readonly kind: "repl" | "swank-client" | "other" | "gone";
  /** Tells clients apart, from 1, for as long as they are connected. */
  readonly connection: number;
  /** The same in words, e.g. `Emacs (Swank connection 1)`. */
  readonly text: string;
}

const WORDS = {
  repl: "Emacs",
  "swank-client": "another swank-mcp or swank-client",
  other: "another Swank client",
  gone: "a client that has gone",
} as const;

/** Makes the words of the facts. */
export function stopOwner(kind: StopOwner["kind"], connection: number): StopOwner {
  return { kind, connection, text: `${WORDS[kind]} (Swank connection ${connection})` };
}
