import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSymbol, readAll, type Sexp } from "sexp-parser";

/** An internal of SBCL that a file of `port/` imports. */
export interface Internal {
  /** With its package: `SB-DI::TOP-FRAME`. */
  readonly name: string;
  /** The file, without folder and ending. */
  readonly file: string;
}

const PORT = join("packages", "swank-client", "lisp", "port");

const KINDS = new Set(["FUNCTIONS", "MACROS", "VARIABLES", "TYPES", "NAMES"]);

/** The internals that `define-port` forms name, sorted by name. */
export function importedInternals(): readonly Internal[] {
  const found = new Map<string, Internal>();
  for (const entry of readdirSync(PORT)) {
    const file = entry.replace(/\.lisp$/, "");
    for (const name of namesIn(readFileSync(join(PORT, entry), "utf8"))) {
      if (!found.has(name)) found.set(name, { name, file });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesIn(text: string): readonly string[] {
  const begin = text.indexOf("(swank-client/sbcl-internals:define-port");
  if (begin < 0) return [];
  return text
    .split("(swank-client/sbcl-internals:define-port")
    .slice(1)
    .flatMap((part) => clauses(`(${part.slice(0, part.indexOf("\n\n"))}`))
    .flatMap(namesOf);
}

function clauses(text: string): readonly Sexp[] {
  return readAll(text).flatMap((form) => (Array.isArray(form) ? form.slice(1) : []));
}

/** `(:functions #:sb-di #:top-frame ...)` */
function namesOf(clause: Sexp): readonly string[] {
  if (!Array.isArray(clause)) return [];
  const [kind, home, ...names] = clause;
  if (kind === undefined || !isSymbol(kind) || !KINDS.has(kind.name)) return [];
  return names.map((name) => `${nameOf(home)}::${nameOf(name)}`);
}

function nameOf(form: Sexp | undefined): string {
  if (form === undefined || !isSymbol(form)) throw new Error("A clause of define-port names symbols.");
  return form.name;
}
