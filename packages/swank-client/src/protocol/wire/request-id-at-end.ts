/** What an echoed packet was, and the request it belongs to. */
export interface PacketIdentity {
  readonly carried: "request" | "reply";
  readonly id: number;
}

/** Room for the digits of an id, the parenthesis, and the newline that Emacs sends. */
const TAIL_LENGTH = 32;

/**
 * Finds the id in the text of a packet that could not be read: it is the last thing in `(:emacs-rex ... ID)` and `(:return ... ID)`.
 *
 * @returns `undefined` when the packet is neither.
 */
export function requestIdAtEnd(packet: string): PacketIdentity | undefined {
  const name = /^\(:(emacs-rex|return)\s/i.exec(packet)?.[1]?.toLowerCase();
  // Only the tail is searched: a packet may hold megabytes of digits.
  const digits = /\s(-?\d{1,15})\)\s*$/.exec(packet.slice(-TAIL_LENGTH))?.[1];
  if (name === undefined || digits === undefined) return undefined;
  return { carried: name === "return" ? "reply" : "request", id: Number(digits) };
}
