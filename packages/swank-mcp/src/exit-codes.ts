/** Exit codes of a process that a signal ended, as shells count them. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** How long the way down may take, in milliseconds. */
export const CLOSE_TIME = 5000;
