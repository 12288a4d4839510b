import { SwankError } from "./errors.js";

/** @throws SwankError `INVALID_ARGUMENT` for what is no index, such as `null` or an object of a caller without types. */
export function checkIndex(name: string, index: number): void {
  if (Number.isSafeInteger(index) && index >= 0) return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a whole number from 0, not ${shownIndex(index)}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` for what is no id: it would be sent as it is, and a list is code. */
export function checkId(name: string, id: number): void {
  if (Number.isSafeInteger(id)) return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a whole number, not ${shownIndex(id)}.`);
}

/** Whatever was given for an index, as a message names it. */
export function shownIndex(given: unknown): string {
  return typeof given === "number" || given === null ? String(given) : `a value of type ${typeof given}`;
}
