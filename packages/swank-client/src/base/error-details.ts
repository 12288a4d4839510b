/** How a launched image ended. */
export interface ImageExit {
  /** Exit code; `undefined` if a signal ended it, or if it could not be started. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** True if a garbage collection ran out of memory, which ends SBCL. `dynamicSpaceSize` gives an image more. */
  readonly heapExhausted: boolean;
  /** The message in its output that says why it ended, or the last 12 lines; empty if it printed nothing, or if the exit code is 0. */
  readonly problem: string;
  /** The end of its output on stdout and stderr, about 16,000 characters. */
  readonly outputTail: string;
}

/** Circumstances of a failure. The code determines which fields are present. */
export interface SwankErrorDetails {
  /** The operation that failed, e.g. `swank:backtrace`. */
  readonly operation?: string;
  /** Id of the request. */
  readonly request?: number;
  /** The stopped thread that holds the lock for which the request waited, and its level in the debugger. */
  readonly holder?: { readonly thread: number; readonly level: number };
  /** The last messages sent before the failure, oldest first, each cut to a few hundred characters. */
  readonly lastSent?: readonly string[];
  /** The beginning of the bytes or data that were not understood. */
  readonly received?: string;
  /** The port to connect to after the remedy's form has been evaluated. */
  readonly port?: number;
  /** True if no secret was given and the server may require one. */
  readonly secretMissing?: boolean;
  /** True if the user has disconnected all agents from the image, with `M-x swank-mcp-kick` in Emacs. */
  readonly kicked?: boolean;
  /** The output of a Lisp during its launch. */
  readonly output?: string;
  /** How the image ended whose connection was lost, if this program launched it and it ended within 2 s of the loss. */
  readonly exit?: ImageExit;
}
