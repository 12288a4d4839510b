import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { restartList } from "./condition.js";
import type { StopData } from "./stop-data.js";
import { type StopOwner, stopOwner } from "./stop-owner.js";

/** Milliseconds that the image has to list its stops. */
export const LIST_TIME = 10_000;

/** A stop in another client's debugger, as known without asking its thread: without frames, slots and variables. */
export interface ForeignStopData extends StopData {
  readonly number: number;
  readonly owner: StopOwner;
}

const { integer, list, plist, string } = decode;

const place = plist({ number: integer, thread: integer, level: integer, owner: stopOwner });
const rest = plist({ name: string, type: string, class: string, message: string, restarts: restartList });

const foreignStop: Decoder<ForeignStopData> = (datum) => {
  const { name, ...condition } = rest(datum);
  return {
    ...place(datum),
    threadName: name,
    isOwn: false,
    reason: "error",
    detail: {},
    condition: { ...condition, supertypes: [], slots: [], frames: [], totalFrames: 0, timestamp: Date.now() },
    locals: [],
  };
};

/** Lists the stops in other clients' debuggers (lisp/debugger/foreign-stops.lisp). */
export const foreignStops = lispFunction({
  name: "foreign-stops",
  module: "debugger",
  decode: list(foreignStop),
  timeout: LIST_TIME,
  label: () => "foreign stops",
});
