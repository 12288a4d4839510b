/** The most that Lisp is told to send: beyond every real output, yet a fixnum everywhere. */
const NO_LIMIT = 2 ** 40;

/** A number of characters as Lisp takes it, of one that may be infinite. */
export function lispLimit(characters: number): number {
  return Math.min(Math.floor(characters), NO_LIMIT);
}
