import { print } from "sexp-parser";
import { firstAttachForms } from "../attach.js";
import { RuntimeCalls } from "../runtime/runtime-calls.js";
import { allModules, runtimeModule } from "../runtime/runtime-source.js";

/** The text of every module of this package's runtime, so that an image of our own never waits for one to be loaded. */
export function ownRuntime(): readonly string[] {
  return allModules().map(({ source }) => source);
}

/** What a client asks first, as it is sent: the first evaluation in a new image then costs no more than the next one. */
export function firstRequests(): readonly string[] {
  const calls = new RuntimeCalls(runtimeModule("evaluate"));
  const evaluation = {
    id: 1,
    package: undefined,
    stdin: undefined,
    check: false,
    unwind: false,
    debug: true,
    limit: 1000,
    tail: 0,
  };
  return [...firstAttachForms(), calls.evaluate({ ...evaluation, code: "(list (+ 1 2))" })].map(print);
}
