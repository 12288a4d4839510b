import { elements, print, readWithPositions, type Sexp, SexpError, type SourceDatum } from "sexp-parser";
import type { LocationPosition } from "../calls/location.js";
import { findSnippet } from "./snippet.js";
import type { SourceText } from "./source-text.js";

/** A place in a text. */
export interface FoundOffset {
  /** In UTF-16 code units, from 0. */
  readonly offset: number;
  /** True if the text that Lisp knows is not in the file, so that the place is only the likeliest one. */
  readonly isChanged: boolean;
}

/** What is known about a text: the text that Lisp knows at the position, and the features of that Lisp, which decide `#+` and `#-`. */
export interface KnownText {
  readonly snippet: string | undefined;
  readonly features: readonly string[] | undefined;
}

/** The place of a position in a text. */
export function findOffset(source: SourceText, position: LocationPosition, known: KnownText): FoundOffset {
  const offset = offsetOf(source, position, known.features);
  const { snippet } = known;
  if (snippet === undefined) return { offset: offset ?? 0, isChanged: offset === undefined };
  const candidates: Candidate[] = [{ snippet, start: offset ?? 0 }];
  // Swank reads a file that names no encoding as Latin-1, and counts its bytes
  if (position.kind === "offset")
    candidates.push({ snippet: fromLatin1(snippet), start: source.atByte(position.offset).offset });
  return nearest(source.text, candidates);
}

function offsetOf(source: SourceText, position: LocationPosition, features: KnownText["features"]): number | undefined {
  switch (position.kind) {
    case "offset":
      return source.atCharacter(position.offset).offset;
    case "byte":
      return source.atByte(position.offset).offset;
    case "line":
      return source.atLine(position.line, position.column).offset;
    case "end":
      return source.text.length;
    case "function":
      return definitionOf(source.text, [position.name]);
    case "method":
      return definitionOf(source.text, [position.name, ...namesOf([...position.qualifiers, position.specializers])]);
    case "path":
      return formAt(source, position.path, position.offset, features);
  }
}

interface Candidate {
  readonly snippet: string;
  readonly start: number;
}

/** The place of the candidate of which most is found, or of the one that is nearest to its start. */
function nearest(text: string, candidates: readonly Candidate[]): FoundOffset {
  const found = candidates.flatMap(({ snippet, start }) => {
    const match = findSnippet(text, snippet, start);
    if (match === undefined) return [];
    return { ...match, isChanged: match.length < snippet.length, distance: Math.abs(match.offset - start) };
  });
  found.sort((a, b) => Number(a.isChanged) - Number(b.isChanged) || b.length - a.length || a.distance - b.distance);
  const { offset = candidates[0]?.start ?? 0, isChanged = true } = found[0] ?? {};
  return { offset, isChanged };
}

/** The text of UTF-8 that was read as Latin-1. Its last character may be cut. */
function fromLatin1(text: string): string {
  return /[^\0-\xff]/.test(text)
    ? text
    : Buffer.from(text, "latin1")
        .toString("utf8")
        .replace(/\ufffd$/, "");
}

/** The place of a definition whose head has these names in this order, in any case (slime.el, `slime-goto-location-position`). */
function definitionOf(text: string, names: readonly string[]): number | undefined {
  const name = (part: string) => `(?<![^\\s()'"])${part.replace(/[^\w\s]/g, "\\$&")}(?![^\\s()'"])`;
  // other definitions do not belong to the head
  const head = names.map(name).join("(?:(?!\\(def).){0,200}?");
  const found = new RegExp(`\\(def[^\\s()]*\\s+\\(*${head}`, "is").exec(text);
  return found?.index;
}

/** The names in data that Lisp sends as texts or symbols. `T` is not written in lambda lists. */
function namesOf(data: readonly Sexp[]): readonly string[] {
  const isList = (datum: Sexp): datum is readonly Sexp[] => Array.isArray(datum);
  const names = data.flatMap((datum) =>
    isList(datum) ? namesOf(datum) : typeof datum === "string" ? datum : print(datum),
  );
  return names.filter((name) => name.toUpperCase() !== "T");
}

/** The place of the innermost form of a path that is in the text. */
function formAt(
  source: SourceText,
  path: readonly number[],
  offset: number | undefined,
  features: KnownText["features"],
): number | undefined {
  const start = offset === undefined ? 0 : source.atCharacter(offset).offset;
  const [top = 0, ...inner] = path;
  const forms = formsFrom(source.text.slice(start), features);
  let form = forms[offset === undefined ? top : 0];
  for (const index of inner) form = form === undefined ? undefined : (elements(form)[index] ?? form);
  return form === undefined ? undefined : start + form.start;
}

function formsFrom(text: string, features: KnownText["features"]): readonly SourceDatum[] {
  try {
    return elements(readWithPositions(text, { features }));
  } catch (error) {
    if (error instanceof SexpError) return [];
    throw error;
  }
}
