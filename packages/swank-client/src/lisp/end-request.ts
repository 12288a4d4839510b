import type { Sexp } from "sexp-parser";
import { connectionFunctionForm } from "./connection-function.js";

/** Ends a request of the sending connection, in whatever thread it runs. Has no effect in an image without the system `connection`. */
export function endRequestForm(id: number): Sexp {
  return connectionFunctionForm("end-request", id);
}
