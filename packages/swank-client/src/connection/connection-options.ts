import { checkOptions, type OptionNames } from "../check-options.js";
import type { SwankError } from "../errors.js";
import type { SwankMessage } from "../wire/messages.js";
import type { ReplyPolicy } from "./default-replies.js";
import type { HeartbeatOptions } from "./heartbeat.js";
import type { UnhandledListenerError } from "./typed-emitter.js";

/** How a connection behaves. */
export interface ConnectionOptions {
  /** Sent before anything else; see `readSecret`. */
  readonly secret?: string | undefined;
  /** The largest message accepted, in bytes; default and most 16777215. */
  readonly frameLimit?: number | undefined;
  /** Bytes that may wait to be sent before requests are refused; default 64 MiB. */
  readonly backlogLimit?: number | undefined;
  /** Milliseconds to wait for the reply of a numbered thread, unless the request says otherwise; default 30000. */
  readonly threadTimeout?: number | undefined;
  /** Milliseconds that `close()` waits for the other side to close as well; default 1000. */
  readonly linger?: number | undefined;
  /** How to find out that the image has stopped answering; `false` for not at all. */
  readonly heartbeat?: HeartbeatOptions | false | undefined;
  /** Answers Lisp threads that wait, in place of the default answers. */
  readonly replyPolicy?: ReplyPolicy | undefined;
  /** Gets what listeners and the reply policy throw; by default that becomes a process warning. */
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
  checkHeartbeatOptions(options);
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkHeartbeatOptions({ heartbeat }: Pick<ConnectionOptions, "heartbeat">): void {
  if (heartbeat !== undefined && heartbeat !== false) checkOptions("heartbeat", heartbeat, HEARTBEAT_OPTIONS);
}

export const DEFAULTS = { backlogLimit: 64 * 1024 * 1024, threadTimeout: 30_000, linger: 1000 } as const;

/** Events of a connection. */
export interface ConnectionEvents {
  /** Every message received, in order, replies included. What waits on it has been answered and settled before. */
  event: SwankMessage;
  /** A reply that no request waits for, for example because its wait had been given up. It comes before its `event`. */
  unclaimed: SwankMessage;
  /** The image has been silent although it was asked for a sign of life (`false`), or gave one after all (`true`). */
  answering: boolean;
  /** It is over; the payload says why. Nothing follows. */
  closed: SwankError;
}
