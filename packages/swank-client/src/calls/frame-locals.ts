import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type FrameLocals, variable } from "./frames.js";
import { noFrame } from "./stop-refusals.js";

const { boolean, integer, list, map, string, tagged, tuple } = decode;

/** `(:locals ((NAME VALUE NUMBER MARK ...) ...) TOTAL (CATCH-TAG ...) UNREAD)` */
const locals: Decoder<FrameLocals> = tagged({
  locals: map(tuple(list(variable), integer, list(string), boolean), ([some, totalLocals, catchTags, unread]) => ({
    locals: some,
    totalLocals,
    catchTags,
    unread,
  })),
});

/** Reads the variables and catch tags of one frame of a stop (lisp/debugger/frames.lisp). */
export const frameLocals = lispFunction({
  name: "frame-locals",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, frame: number) => [level, frame],
  decode: locals,
  refusals: { "no-frame": (_level: number, frame: number) => noFrame(frame) },
  label: () => "frame locals",
});
