/** What the code that starts the program offers to it. */
export interface Starter {
  /**
   * Called when a call has ended: then most of the code that calls need is compiled. It is soon kept for later processes, and from then on
   * optimized earlier.
   */
  callEnded(): void;
}
