import { type Decoded, decode } from "sexp-parser";
import { decodedIfKnown, keywordOf } from "../runtime/function.js";
import type { WriteStringMessage } from "../wire/messages.js";

const { list, map, record, string, tagged, tuple } = decode;

/**
 * What a form does. `definition`: the text has its definitions, and nothing else of it. `mixed`: it defines something, but that cannot be told from
 * what else it does; the text is its beginning. `effects`: it defines nothing, and the text is empty.
 */
const FORM_KINDS = ["definition", "mixed", "effects"] as const;

const loaded = record({ kind: keywordOf(["file", "system"]), name: string });

/** `(:form PACKAGE KIND (VARIABLE ...) ((KIND NAME) ...))`, the target of a message of lisp/session/told-forms.lisp. */
const told = tagged({
  form: map(
    tuple(string, keywordOf(FORM_KINDS), list(string), list(loaded)),
    ([packageName, kind, assigned, loads]): Omit<SessionForm, "text"> => ({
      package: packageName,
      kind,
      assigned,
      loaded: loads,
    }),
  ),
});

/** A form of this client that defines or loads something, or assigns variables. */
export interface SessionForm {
  readonly text: string;
  readonly kind: (typeof FORM_KINDS)[number];
  /** The package in which it was read. */
  readonly package: string;
  /** Global variables that it has assigned for the first time in the session. */
  readonly assigned: readonly string[];
  /** Files and systems that it has loaded for the first time in the session. */
  readonly loaded: readonly Decoded<typeof loaded>[];
}

/** Reads a form from a message; `undefined` for a message about something else. */
export function readSessionForm({ target, text }: WriteStringMessage): SessionForm | undefined {
  const form = decodedIfKnown(told, target);
  return form && { ...form, text };
}
