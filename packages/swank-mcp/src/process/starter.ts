/** What the code that starts the program offers to it. */
export interface Starter {
  /**
   * Called when a call has ended. After the first, most code that calls need is compiled: the starter keeps it for later processes, unless
   * that has happened, and then lets V8 optimize it earlier.
   */
  callEnded(): void;
}
