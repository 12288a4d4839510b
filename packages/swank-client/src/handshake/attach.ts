import { list, NIL, type Sexp, symbol, T } from "sexp-parser";
import { checkChoice } from "../base/check-arguments.js";
import type { Caller } from "../lisp/caller.js";
import { inPackage } from "../lisp/lisp-runner.js";
import { type Evaluate, isReadyForm, loadModule } from "../lisp/load-module.js";
import { runtimeModule } from "../lisp/runtime-source.js";

const POLICIES = ["auto", "mine", "theirs"] as const;

/**
 * Who receives errors from background threads. `auto`: another client if one is connected, otherwise this one. `mine`: this one, until it
 * disconnects. `theirs`: never this one.
 */
export type ForeignErrors = (typeof POLICIES)[number];

/** Options for sharing an image with other clients. */
export interface AttachOptions {
  /** Default: `auto`. */
  readonly foreignErrors?: ForeignErrors | undefined;
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkAttachOptions({ foreignErrors = "auto" }: AttachOptions): void {
  checkChoice("foreignErrors", foreignErrors, POLICIES);
}

/**
 * Sets up a new connection so that it does not disturb other clients, and so that the image cleans up after it.
 *
 * @throws SwankError the errors of `Caller.call`.
 */
export async function attach(client: Pick<Caller, "call">, { foreignErrors = "auto" }: AttachOptions) {
  const evaluate: Evaluate = (form, options) => client.call(form, options);
  await loadModule(evaluate, runtimeModule("connection"));
  await client.call(attachForm(), { label: "attaching" });
  if (foreignErrors === "auto") return;
  await loadModule(evaluate, runtimeModule("foreign-errors"));
  await client.call(foreignErrorsForm(foreignErrors === "mine"), { label: "attaching" });
}

/** The first request of a new connection. */
export function firstAttachForms(): readonly Sexp[] {
  return [isReadyForm(runtimeModule("connection")), attachForm()];
}

function attachForm(): Sexp {
  return list(symbol(inPackage(runtimeModule("connection").packageName, "attach")));
}

function foreignErrorsForm(isMine: boolean): Sexp {
  const { packageName } = runtimeModule("foreign-errors");
  return list(symbol(inPackage(packageName, "choose-foreign-errors")), isMine ? T : NIL);
}
