import { NIL, read, type Sexp, T } from "sexp-parser";
import { readLisp } from "./runtime/runtime-source.js";

/**
 * The form that makes a new connection a considerate one (lisp/attach.lisp); it gives the number of other connections.
 *
 * @param isTcp - Only a TCP socket has a delay to turn off.
 */
export function attachForm(isTcp: boolean): Sexp {
  return [read(readLisp("attach")), isTcp ? T : NIL];
}
