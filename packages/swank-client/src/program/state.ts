import { type Decoded, decode } from "sexp-parser";
import { lispFunction } from "../runtime/function.js";

const { integer, plist } = decode;

/** Milliseconds that the image has to answer: an answer that takes longer is of no use for a glance. */
const STATE_TIME = 5000;

/** Decodes the plist of `image-state` (lisp/observe/state.lisp). */
const state = plist({
  /** Bytes of the heap in use, garbage included. */
  used: integer,
  /** Bytes that the heap can have. */
  size: integer,
  /** Number of its threads, those of Swank and Lisp included. */
  threads: integer,
  /** Number of the other clients that are connected to it. */
  clients: integer,
});

/** The size of an image. */
export interface ImageState extends Decoded<typeof state> {}

/** Asks for the size of the image (lisp/observe/state.lisp). */
export const imageState = lispFunction({
  name: "image-state",
  module: "observe",
  decode: state,
  timeout: STATE_TIME,
  label: () => "asking for the size of the image",
});
