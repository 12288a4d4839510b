import { lispFunction } from "../lisp/descriptor.js";
import { location } from "./location.js";

/** `(swank:frame-source-location INDEX)`: the source location of the code that a frame runs. Runs on the stopped thread. */
export const frameSourceLocation = lispFunction({
  name: "swank:frame-source-location",
  where: "stopped-thread",
  encode: (frame: number) => [frame],
  decode: location,
});
