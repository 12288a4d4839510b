import { createHash } from "node:crypto";
import { keyword, list, quote, read, type Sexp, symbol } from "sexp-parser";
import { readLisp } from "./runtime/runtime-source.js";

/** Forms about what the image keeps from one connection to the next: compiling it takes longer than all the rest of connecting. */

let name: Sexp | undefined;

/** The keyword on whose property list the image keeps it, which carries a hash of its text. */
function guardName(): Sexp {
  if (name !== undefined) return name;
  const hash = createHash("sha256").update(readLisp("requests")).update(readLisp("guard")).digest("hex").slice(0, 12);
  name = keyword(`SWANK-CLIENT/GUARD/${hash.toUpperCase()}`);
  return name;
}

/** Whether the image has not met this version of the guard. */
export function isGuardNewForm(): Sexp {
  return list(symbol("cl:null"), list(symbol("cl:get"), guardName(), keyword("function")));
}

/** Guards the connection that sends it. */
export function knownGuardForm(): Sexp {
  return list(symbol("cl:funcall"), list(symbol("cl:get"), guardName(), keyword("function")));
}

/** The same, in the order to be sent, in an image that does not know the guard. */
export function newGuardForms(): readonly Sexp[] {
  return [
    [read(readLisp("requests")), guardName()],
    [read(readLisp("guard")), guardName()],
  ];
}

/** Ends a request of the connection that sends it, wherever it runs. Without effect on a connection that was never guarded. */
export function endRequestForm(id: number): Sexp {
  const known = list(symbol("cl:get"), guardName(), keyword("end-request"), quote(symbol("cl:identity")));
  return list(symbol("cl:funcall"), known, id);
}
