/** What the code that starts the program offers to it. */
export interface Starter {
  /** Keeps the compiled code for later processes, soon. Called when a call has ended: then most of the code that calls need is compiled. */
  keepCode(): void;
}
