import type { DefinitionSource, FoundSymbol, Meaning } from "../image/lisp-port.js";
import { cutText } from "../text/cut.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { shownValue } from "./value-cuts.js";

/** Most lines shown of a defining form. */
const MAX_LINES = 20;

/** Lines that help an agent after a symbol's description. The contract does not define them. */
export function symbolHints(found: FoundSymbol, asked: string, guide: ToolGuide): readonly string[] {
  const { meanings } = found;
  const hints = [
    ...accessHint(found, asked),
    ...meanings.flatMap((meaning) => valueHint(meaning, guide)),
    ...meanings.flatMap(({ source }) => (source === undefined ? [] : sourceHint(source))),
    ...(meanings.length === 0 ? ["This symbol has no definition."] : []),
  ];
  return [...new Set(hints)];
}

/** Code cannot write `package:name` for a symbol that is not exported. */
function accessHint({ access, name }: FoundSymbol, asked: string): string[] {
  const single = /^[^:|\\]+:[^:]/.test(asked.trim());
  return single && access === "internal" ? [`The symbol is not exported: code must write ${name}.`] : [];
}

/** Says what is wrong with a name that no symbol can have without bars. The image takes all after the first marker for the symbol's name. */
export function markerHint(asked: string): string[] {
  const unescaped = asked.replace(/\\.|\|[^|]*\|/gs, "x");
  if (!/:::|:[^:]+:/.test(unescaped)) return [];
  return [
    "The name has too many package markers: write package:name or package::name, and vertical bars around a name that contains colons, as in package::|a:b|.",
  ];
}

function valueHint(meaning: Meaning, guide: ToolGuide): string[] {
  if (!("value" in meaning)) return [];
  if (meaning.value === undefined) return ["The variable is unbound."];
  const { leftOut } = shownValue(meaning.value);
  return leftOut === undefined
    ? []
    : [`The value is cut: ${leftOut}.${guide.offers("evaluate-lisp") ? " evaluate-lisp shows parts of it." : ""}`];
}

function sourceHint(source: DefinitionSource): string[] {
  if (source.kind === "evaluation") return [`Defined by evaluated code:\n${firstLines(source.form)}`];
  if (source.line !== undefined) return [];
  return source.position === undefined
    ? [`Source file: ${source.file}`]
    : [
        `${source.position} is the character offset in ${source.file}; its line is unknown, because the image cannot read the file.`,
      ];
}

function firstLines(form: string): string {
  const lines = cutText(form).split("\n");
  const left = lines.length - MAX_LINES;
  return left > 0 ? `${lines.slice(0, MAX_LINES).join("\n")}\n... ${left} more lines` : lines.join("\n");
}
