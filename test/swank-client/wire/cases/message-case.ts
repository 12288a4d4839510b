import type { SwankMessage } from "swank-client/protocol";

/** A message as a server writes it, and what it means. */
export type MessageCase = readonly [title: string, text: string, message: SwankMessage];
