/** A failure that the person at the keyboard can mend: its message says how, and is all that is shown. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";
}
