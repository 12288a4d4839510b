import { decode, keyword, NIL, read, type Sexp, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { decodeValue } from "./lisp-runner.js";
import { readLisp } from "./lisp-systems.js";
import type { RuntimeModule } from "./runtime-source.js";

const { map, string, tagged, tuple } = decode;

/** Milliseconds that loading may take. It usually takes 100 ms, and more while another thread compiles. */
const LOADING_TIME = 60_000;
/** Milliseconds that checking whether a module is loaded may take. The check waits for no lock. */
const LOOKUP_TIME = 10_000;

/** Decodes to `undefined`, or to the text of the error. */
const loaded = tagged({ ok: map(tuple(), () => undefined), failed: map(tuple(string), ([message]) => message) });

/** Evaluates a form in the image. */
export type Evaluate = (form: Sexp, options: { readonly label: string; readonly timeout: number }) => Promise<Sexp>;

/**
 * Loads a module into an image unless it is loaded.
 *
 * @throws SwankError `RUNTIME_FAILED`, and the errors of `evaluate`.
 */
export async function loadModule(evaluate: Evaluate, module: RuntimeModule): Promise<void> {
  const there = await evaluate(isReadyForm(module), { label: "looking for the runtime", timeout: LOOKUP_TIME });
  if (there !== NIL) return;
  const label = "loading the runtime";
  const problem = decodeValue(loaded, await evaluate(loadForm(module), { label, timeout: LOADING_TIME }), label);
  if (problem === undefined) return;
  throw new SwankError("RUNTIME_FAILED", `The runtime could not be loaded into the image: ${problem}`);
}

/** Whether the image has the module. */
export function isReadyForm({ marker }: RuntimeModule): Sexp {
  return [symbol("cl:get"), keyword(marker), keyword("ready")];
}

function loadForm({ marker, source }: RuntimeModule): Sexp {
  return [read(readLisp("compat/load-text")), source, keyword(marker), read(readLisp("compat/default-settings"))];
}
