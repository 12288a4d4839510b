import { checkOptions, checkTimeout, type OptionNames } from "../../base/check-arguments.js";
import type { SwankError } from "../../base/errors.js";
import type { UnhandledListenerError } from "../../base/typed-emitter.js";
import type { DebugMessage, SwankMessage } from "../wire/messages.js";
import type { ReplyPolicy } from "./default-replies.js";
import type { HeartbeatOptions } from "./heartbeat.js";

/** Options of a connection. */
export interface ConnectionOptions {
  /** The secret, sent first; see `readSecret`. */
  readonly secret?: string | undefined;
  /** The largest accepted message, in bytes. Default and maximum 16777215. */
  readonly frameLimit?: number | undefined;
  /** Bytes that may wait to be sent before requests are refused. Default 64 MiB. */
  readonly backlogLimit?: number | undefined;
  /** Default timeout in milliseconds for a request to a numbered thread. Default 30000. */
  readonly threadTimeout?: number | undefined;
  /**
   * Milliseconds that `close()` waits for the other side to close. Default 1000. In the first half of this time it waits for the server to pass on
   * requests that are not answered yet; Swank does so at once.
   */
  readonly linger?: number | undefined;
  /** How to detect that the image has stopped answering; `false` disables the check. */
  readonly heartbeat?: HeartbeatOptions | false | undefined;
  /** Answers questions of Lisp threads instead of the default answers. */
  readonly replyPolicy?: ReplyPolicy | undefined;
  /** Receives errors of listeners and of the reply policy. By default they become process warnings. */
  readonly onListenerError?: UnhandledListenerError | undefined;
}

export const CONNECTION_OPTIONS: OptionNames<ConnectionOptions> = {
  secret: true,
  frameLimit: true,
  backlogLimit: true,
  threadTimeout: true,
  linger: true,
  heartbeat: true,
  replyPolicy: true,
  onListenerError: true,
};

const HEARTBEAT_OPTIONS: OptionNames<HeartbeatOptions> = { interval: true, patience: true };

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkConnectionOptions(options: ConnectionOptions): void {
  checkOptions("Connection", options, CONNECTION_OPTIONS);
  checkConnectionTimes(options);
}

/** @throws SwankError `INVALID_ARGUMENT` for a time that is not a number, and for unknown options of the heartbeat. */
export function checkConnectionTimes({ threadTimeout, linger, heartbeat }: Omit<ConnectionOptions, "secret">): void {
  checkTimeout("threadTimeout", threadTimeout);
  checkTimeout("linger", linger);
  if (heartbeat === undefined || heartbeat === false) return;
  checkOptions("heartbeat", heartbeat, HEARTBEAT_OPTIONS);
  checkTimeout("interval", heartbeat.interval);
}

export const DEFAULTS = { backlogLimit: 64 * 1024 * 1024, threadTimeout: 30_000, linger: 1000 } as const;

/** Events of a connection. */
export interface ConnectionEvents {
  /** Every received message, in order, including replies. It is emitted after waiting threads are answered and requests settled. */
  event: SwankMessage;
  /** A reply that no request waits for, for example after its timeout. It is emitted before its `event`. */
  unclaimed: SwankMessage;
  /** A thread has entered the debugger. It comes before its `event`. */
  debug: DebugMessage;
  /** The image has stopped answering heartbeats (`false`), or answers again (`true`). */
  answering: boolean;
  /** The connection has ended; the payload is the reason. This is the last event. */
  closed: SwankError;
}

export const CONNECTION_EVENTS: OptionNames<ConnectionEvents> = {
  event: true,
  unclaimed: true,
  debug: true,
  answering: true,
  closed: true,
};
