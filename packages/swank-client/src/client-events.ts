import type { OptionNames } from "./base/check-arguments.js";
import type { HitElsewhere } from "./calls/breakpoint.js";
import type { UserRequest } from "./calls/user-asks.js";
import type { EndedThread } from "./debugger/own-threads.js";
import type { Stop } from "./debugger/stop.js";

/** Events of a client. */
export interface ClientEvents {
  /** A thread has stopped: one of this client's evaluations, or another thread whose error this client received. `stops` has all stops. */
  stop: Stop;
  /**
   * An error ended a thread that this client's code started, because its evaluation does not stop (`onError: "unwind"`), or because a stop
   * of the thread would have blocked other threads.
   */
  threadEnded: EndedThread;
  /** A thread of another client has stopped at a breakpoint of this one, in that client's debugger. */
  hitElsewhere: HitElsewhere;
  /** A user of the image asks the agent of this client to look at something, in Emacs with swank-mcp.el. */
  userAsks: UserRequest;
}

export const CLIENT_EVENTS: OptionNames<ClientEvents> = {
  stop: true,
  threadEnded: true,
  hitElsewhere: true,
  userAsks: true,
};
