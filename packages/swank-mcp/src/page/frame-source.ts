import { outlineCode, SwankError, type types } from "swank-client";
import type { LispClient } from "../session/lisp-port.js";
import type { PageSource } from "./model.js";

/** Lines of a file before and after the marked one. */
const CONTEXT = 15;

/** What Lisp puts before the call in progress when it prints the form of a frame. */
const HERE = "(#:***HERE*** ";

type Framed = Pick<types.Frame, "source" | "function">;

/**
 * The source of a frame, as the image has it: the lines of its file around the one that it has reached, or its evaluated definition.
 *
 * @returns `undefined` if there is none.
 * @throws SwankError the errors of `showFile` and `showSource`.
 */
export async function sourceOf(
  { source, function: name }: Framed,
  { code }: LispClient,
  signal: AbortSignal,
): Promise<PageSource | undefined> {
  if (source === undefined) return undefined;
  if ("form" in source) {
    const form = markedForm(source.form);
    const found = markedDefinition(await definitionsOf(name, code, signal), form.call);
    return found === undefined ? form.source : { ...found, isEvaluated: true };
  }
  const { file, line } = source;
  if (line === undefined) return undefined;
  const found = await code.showFile(file, { line, context: CONTEXT, signal });
  return found.status === "found" ? { file: found.file, first: found.first, line, lines: found.lines } : undefined;
}

function textSource(text: string, line: number): PageSource {
  return { file: "", first: 1, line, lines: text.split("\n") };
}

/** The number of the line in which a position is. */
function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** The form as Lisp prints it, without the mark in it, and the call in progress; the form itself if it has no mark. */
function markedForm(form: string): { readonly call: string; readonly source: PageSource } {
  const at = form.indexOf(HERE);
  const rest = form.slice(at + HERE.length);
  const end = at < 0 ? undefined : outlineCode(rest).forms[0]?.end;
  // Which of the lines of an unmarked form is reached is not known.
  if (end === undefined) return { call: form, source: textSource(form, form.includes("\n") ? 0 : 1) };
  const text = `${form.slice(0, at)}${rest.slice(0, end)}${rest.slice(end + 1)}`;
  return { call: rest.slice(0, end), source: textSource(text, lineAt(form, at)) };
}

/** The texts of the evaluated definitions of a frame's function; none if it has no name. */
async function definitionsOf(name: string, code: LispClient["code"], signal: AbortSignal): Promise<readonly string[]> {
  const shown = await code.showSource(name, { signal }).catch((error: unknown) => {
    // The function of a frame may have a name that is none in code, such as (LAMBDA ()).
    if (error instanceof SwankError && error.code === "INVALID_ARGUMENT") return undefined;
    throw error;
  });
  if (shown?.status !== "found") return [];
  return shown.definitions.flatMap(({ state, text }) => (state === "evaluated" && text !== undefined ? [text] : []));
}

/** The definition with the line of a call, if the call is in exactly one place of the definitions, as it was written or as Lisp prints it. */
function markedDefinition(definitions: readonly string[], call: string): PageSource | undefined {
  const words = call.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(words.join("\\s+"), "gi");
  const places = definitions.flatMap((text) => Array.from(text.matchAll(pattern), ({ index }) => ({ text, index })));
  const [place, other] = places;
  if (place === undefined || other !== undefined) return undefined;
  const isWhole = place.index === 0 && call.includes("\n");
  return textSource(place.text, isWhole ? 0 : lineAt(place.text, place.index));
}
