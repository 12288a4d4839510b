import { createHash } from "node:crypto";
import { keyword, list, NIL, read, type Sexp, symbol, T } from "sexp-parser";
import type { SwankClient } from "./client.js";
import { SwankError } from "./errors.js";
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
  await client.call(isNew ? guardForm() : knownGuardForm(), { label: "attaching" });
  await client.call(attachForm(), { label: "attaching" });
  if (foreignErrors !== "auto") await client.call(foreignErrorsForm(foreignErrors === "mine"), { label: "attaching" });
}

/** What a new connection asks first in an image that has not met this version of the guard. */
export function firstAttachForms(): readonly Sexp[] {
  return [isGuardNewForm(), guardForm(), attachForm()];
}

/** Under this name the image keeps the guard's function from one connection to the next: compiling it takes longer than all the rest. */
function guardName(): Sexp {
  const hash = createHash("sha256").update(readLisp("guard")).digest("hex").slice(0, 12);
  return keyword(`SWANK-CLIENT/GUARD/${hash.toUpperCase()}`);
}

function isGuardNewForm(): Sexp {
  return list(symbol("cl:null"), list(symbol("cl:get"), guardName(), keyword("function")));
}

function knownGuardForm(): Sexp {
  return list(symbol("cl:funcall"), list(symbol("cl:get"), guardName(), keyword("function")));
}

function guardForm(): Sexp {
  return [read(readLisp("guard")), guardName()];
}

function attachForm(): Sexp {
  return [read(readLisp("attach"))];
}

function foreignErrorsForm(isMine: boolean): Sexp {
  return [read(readLisp("foreign-errors")), isMine ? T : NIL];
}
