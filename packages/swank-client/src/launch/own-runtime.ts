import { print } from "sexp-parser";
import { attach } from "../calls/attach.js";
import { evaluate } from "../calls/evaluate.js";
import { formOf } from "../lisp/lisp-runner.js";
import { callIfLoadedForm, openingCall } from "../lisp/load-forms.js";
import { allModules, runtimeModule } from "../lisp/runtime-source.js";
import type { CoreRuntime } from "./core-key.js";

/** Every module of the runtime, so that a launched image contains all of them. */
export function ownRuntime(): CoreRuntime {
  return {
    id: runtimeModule("evaluate").version,
    get sources() {
      return allModules().map(({ texts }) => texts.join("\n"));
    },
  };
}

/** A client's first requests, as sent. They make the first evaluation in a new image as fast as later ones. */
export function firstRequests(): readonly string[] {
  const { packageName } = runtimeModule("evaluate");
  const call = {
    code: "(list (+ 1 2))",
    id: 1,
    package: undefined,
    stdin: undefined,
    check: false,
    unwind: false,
    debug: true,
    limit: 1000,
    tail: 0,
  };
  const opening = callIfLoadedForm(runtimeModule("connection"), openingCall(attach, "auto"));
  return [opening, formOf(evaluate, [call], packageName)].map(print);
}
