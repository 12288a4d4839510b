import { keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { Caller } from "./caller.js";

/** Milliseconds that a contrib may take to load: SBCL may compile it first. */
const LOADING_TIME = 60_000;

/** The contribs that each connection has loaded or is loading. */
const loaded = new WeakMap<Caller, Map<string, Promise<void>>>();

/**
 * Loads a contrib of SLIME into the image, once for each connection. Swank does nothing if the image has it (swank.lisp, `swank-require`).
 *
 * @throws SwankError `CONTRIB_MISSING` if the image cannot load it, and the errors of a request; the next call tries again.
 */
export function loadContrib(caller: Caller, name: string, label: string): Promise<void> {
  const contribs = loaded.get(caller) ?? new Map<string, Promise<void>>();
  loaded.set(caller, contribs);
  const known = contribs.get(name);
  if (known !== undefined) return known;
  const loading = load(caller, name, label);
  contribs.set(name, loading);
  loading.catch(() => contribs.delete(name));
  return loading;
}

async function load(caller: Caller, name: string, label: string): Promise<void> {
  try {
    await caller.call(requireForm(name), { label: `loading ${name}`, timeout: LOADING_TIME });
  } catch (cause) {
    if (!(cause instanceof SwankError) || cause.code !== "REQUEST_FAILED") throw cause;
    throw new SwankError("CONTRIB_MISSING", `${label} needs SLIME's contrib ${name}: ${cause.message}`, { cause });
  }
}

function requireForm(name: string): Sexp {
  return list(symbol("swank:swank-require"), quote(list(keyword(name))));
}
