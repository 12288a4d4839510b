import type { SwankMessage } from "swank-client/protocol";

/** A message as a server writes it, and what it means. */
export interface MessageCase {
  readonly title: string;
  readonly text: string;
  readonly message: SwankMessage;
}
