import type { Latch } from "../evaluation/outcome-slot.js";
import type { Place } from "../lisp/place.js";

/** The channel to one stop of one thread; it closes permanently when the thread leaves the stop. */
export interface StopChannel extends Place {
  /** Opens when the thread has left the stop. */
  readonly left: Latch;
  /** True while a request that may make the thread leave is under way. */
  readonly isLeaving: boolean;
}
