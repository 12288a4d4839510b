import type { FoundReferences, NoReferences, ReferenceKind, References } from "../image/lisp-port.js";

/** Kinds of which Lisp may not record all references. */
const RECORDED: ReadonlySet<ReferenceKind> = new Set([
  "callers",
  "references",
  "bindings",
  "assignments",
  "macro-uses",
]);

/** Reasons that say only what a name is not. Another reason follows if the name is something else. */
const NOTHING: ReadonlySet<NoReferences["reason"]> = new Set(["no-function", "no-macro", "no-variable", "no-class"]);

/** Whether the symbol of a name exists, but nothing is defined by that name, and nothing refers to it. */
export function namesNothing(found: References): boolean {
  return (
    found.status === "found" && found.reasons.length > 0 && found.reasons.every(({ reason }) => NOTHING.has(reason))
  );
}

/** Lines that say why nothing refers to a name, and what to ask for instead. */
export function noReferencesLines(
  { reasons, lispCount }: FoundReferences,
  name: string,
  kind: ReferenceKind,
): string[] {
  if (reasons.length > 0) return reasons.map((reason) => reasonLine(reason, name));
  if (lispCount > 0 || !RECORDED.has(kind)) return [];
  return ["Uses by a name that is computed at run time are not recorded, and none outside of compiled code."];
}

function reasonLine({ reason, package: home, functions }: NoReferences, name: string): string {
  switch (reason) {
    case "interpreted":
      return `${count(functions)} of package ${home} evaluated with sb-ext:*evaluator-mode* :interpret: their references are not recorded.`;
    case "no-data":
      return `${count(functions)} of package ${home}, and none has cross references: SBCL records none with (space 3).`;
    case "is-interpreted":
      return `${name} was evaluated with sb-ext:*evaluator-mode* :interpret: what it calls is not recorded.`;
    case "inline":
      return `${name} is declared inline: calls that were compiled inline without cross references are not known.`;
    case "constant-inlined":
      return `${name} is a constant: the compiler may have put its value in its place.`;
    case "constant":
      return `${name} is a constant: it cannot be bound or assigned.`;
    case "no-function":
      return `${name} is not a function.`;
    case "function":
      return `${name} is a function: ask for kind callers.`;
    case "macro":
      return `${name} is a macro: ask for kind macro-uses.`;
    case "no-macro":
      return `${name} is not a macro.`;
    case "special-operator":
      return `${name} is a special operator: its uses are not recorded.`;
    case "no-variable":
      return `${name} is not a special variable: uses of lexical variables are not recorded.`;
    case "symbol-macro":
      return `${name} is a symbol macro: its uses are not recorded.`;
    case "type":
      return `${name} is a type, not a class.`;
    case "class":
      return `${name} is a class: ask for kind specializers or subclasses.`;
    case "variable":
      return `${name} is a special variable: ask for kind references.`;
    case "no-class":
      return `${name} is not a class.`;
  }
}

function count(functions = 0): string {
  return functions === 1 ? "1 function" : `${functions} functions`;
}
