import type { DefinitionSource, FoundSymbol, Meaning } from "../lisp-port.js";
import { cutText } from "./cut.js";

/** Most lines shown of a form that defined something. */
const MAX_LINES = 20;

/** What helps an agent to go on from a symbol's description, and is no part of the contract's text; lines. */
export function symbolHints(found: FoundSymbol, asked: string): readonly string[] {
  const { meanings } = found;
  const hints = [
    ...accessHint(found, asked),
    ...meanings.flatMap(valueHint),
    ...meanings.flatMap(({ source }) => (source === undefined ? [] : sourceHint(source))),
    ...(meanings.length === 0 ? ["Nothing is defined under this symbol."] : []),
  ];
  return [...new Set(hints)];
}

/** Code cannot write `package:name` for a symbol that is not exported. */
function accessHint({ access, name }: FoundSymbol, asked: string): string[] {
  const single = /^[^:|\\]+:[^:]/.test(asked.trim());
  return single && access === "internal" ? [`It is not exported: code must write ${name}.`] : [];
}

function valueHint(meaning: Meaning): string[] {
  if (!("value" in meaning)) return [];
  if (meaning.value === undefined) return ["The variable is unbound."];
  const { leftOut } = meaning.value;
  return leftOut === undefined ? [] : [`The value is cut: ${leftOut}. evaluate-lisp shows parts of it.`];
}

function sourceHint(source: DefinitionSource): string[] {
  if (source.kind === "evaluation") return [`Defined by evaluated code:\n${firstLines(source.form)}`];
  if (source.line !== undefined) return [`Source: line ${source.line} of ${source.file}`];
  return source.position === undefined ? [`Source file: ${source.file}`] : [];
}

function firstLines(form: string): string {
  const lines = cutText(form).split("\n");
  const left = lines.length - MAX_LINES;
  return left > 0 ? `${lines.slice(0, MAX_LINES).join("\n")}\n... ${left} more lines` : lines.join("\n");
}
