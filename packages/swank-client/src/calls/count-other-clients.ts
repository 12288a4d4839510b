import { decode, list, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Milliseconds that the image has to count its clients. */
const COUNT_TIME = 3000;

/** Counts the other clients that are connected to the image. */
export const countOtherClients = lispFunction({
  name: "cl:1-",
  encode: () => [list(symbol("cl:length"), symbol("swank::*connections*"))],
  decode: decode.integer,
  timeout: COUNT_TIME,
  label: () => "counting clients",
});
