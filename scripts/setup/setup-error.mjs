/** A failure that the user can correct. Only its message is shown, which says how. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";
}
