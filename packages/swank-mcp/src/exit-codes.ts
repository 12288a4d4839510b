/** Exit codes of a process that a signal ended, as shells count them. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** How long the way down may take, in milliseconds. */
export const CLOSE_TIME = 5000;

/** How long a program that a signal ends waits for a reader that takes nothing, in milliseconds. */
export const SIGNAL_PATIENCE = 2000;

/** How the program ends. */
export interface ProgramEnd {
  readonly exitCode: number;
  /** Milliseconds that the reader of standard output may take nothing before what it has not read is given up. */
  readonly patience: number;
}
