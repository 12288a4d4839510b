import { NIL, read, type Sexp, T } from "sexp-parser";
import type { SwankClient } from "./client.js";
import { SwankError } from "./errors.js";
import { isGuardNewForm, knownGuardForm, newGuardForms } from "./guard.js";
import { readLisp } from "./runtime/runtime-source.js";

const POLICIES = ["auto", "mine", "theirs"] as const;

/**
 * Who gets the errors of threads that no client evaluates anything in: `auto`, another client if there is one, else this one; `mine`, this
 * one, until it leaves; `theirs`, never this one.
 */
export type ForeignErrors = (typeof POLICIES)[number];

/** How a client takes its place among others. */
export interface AttachOptions {
  /** Default: `auto`. */
  readonly foreignErrors?: ForeignErrors | undefined;
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkAttachOptions({ foreignErrors = "auto" }: AttachOptions): void {
  if (POLICIES.includes(foreignErrors)) return;
  throw new SwankError("INVALID_ARGUMENT", `foreignErrors is one of ${POLICIES.join(", ")}, not ${foreignErrors}.`);
}

/**
 * Makes a new connection a considerate one: it steps back behind the others, and the image cleans up after it.
 *
 * @throws SwankError what `SwankClient.call` throws.
 */
export async function attach(client: Pick<SwankClient, "call">, { foreignErrors = "auto" }: AttachOptions) {
  const isNew = (await client.call(isGuardNewForm(), { label: "attaching" })) !== NIL;
  for (const form of isNew ? newGuardForms() : [knownGuardForm()]) await client.call(form, { label: "attaching" });
  await client.call(attachForm(), { label: "attaching" });
  if (foreignErrors !== "auto") await client.call(foreignErrorsForm(foreignErrors === "mine"), { label: "attaching" });
}

/** What a new connection asks first in an image that has not met this version of the guard. */
export function firstAttachForms(): readonly Sexp[] {
  return [isGuardNewForm(), ...newGuardForms(), attachForm()];
}

function attachForm(): Sexp {
  return [read(readLisp("attach"))];
}

function foreignErrorsForm(isMine: boolean): Sexp {
  return [read(readLisp("foreign-errors")), isMine ? T : NIL];
}
