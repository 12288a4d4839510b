import type { ValuesEnding } from "../evaluation/conclusion.js";
import type { Cut, PrintedValue } from "../image/lisp-port.js";

/** Says how much of a value is shown, e.g. `200 of 1000 elements shown`; `undefined` if only parts of the value are cut. */
function cutNote({ by, shown, total }: Cut): string | undefined {
  if (shown === undefined) return undefined;
  if (total === undefined) return `cut at ${shown} characters`;
  return `${shown} of ${total} ${by.includes("characters") ? "characters" : "elements"} shown`;
}

/** The values of an ending, each with the note on what it does not show. */
export function notedValues({ values, cutValues }: Pick<ValuesEnding, "values" | "cutValues">): readonly string[] {
  if (cutValues.length === 0) return values;
  const notes = new Map(cutValues.map((cut) => [cut.index, cutNote(cut)]));
  return values.map((value, index) => withNote(value, notes.get(index)));
}

/** The value of a variable, and what it leaves out. The text of a cut string says so itself, as the contract has no line for it. */
export function shownValue({ text, cut }: PrintedValue): {
  readonly text: string;
  readonly leftOut: string | undefined;
} {
  const note = cut && cutNote(cut);
  const isString = cut?.total !== undefined && cut.by.includes("characters");
  return isString ? { text: withNote(text, note), leftOut: undefined } : { text, leftOut: note };
}

function withNote(value: string, note: string | undefined): string {
  return note === undefined ? value : `${value} [${note}]`;
}
