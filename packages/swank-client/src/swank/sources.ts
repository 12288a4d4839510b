import { readFile } from "node:fs/promises";
import { elements, type Position, print, readWithPositions, type Sexp, SexpError, type SourceDatum } from "sexp-parser";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import type { DefinitionSource } from "../code/names.js";
import type { LispWarning, Place } from "../evaluation/report.js";
import type { Source } from "../evaluation/stop-calls.js";
import {
  type LocationPlace,
  type LocationPosition,
  type SourceLocation,
  SourceText,
} from "../source-text/source-text.js";

/** Where a snippet is in a text. */
interface SnippetMatch {
  readonly offset: number;
  /** The number of the snippet's code units that are there. */
  readonly length: number;
}

/** A text with A to Z in lower case, so that offsets stay the same. Emacs ignores case, and Swank writes some names in upper case. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The place of the longest beginning of a snippet, before or after `start`; of two equally long ones, the nearer (slime.el, `slime-isearch`).
 *
 * @returns undefined if not even the first character of the snippet is in the text.
 */
function findSnippet(text: string, snippet: string, start: number): SnippetMatch | undefined {
  if (snippet === "") return undefined;
  if (text.startsWith(snippet, start)) return { offset: start, length: snippet.length };
  const searched = folded(text);
  const wanted = folded(snippet);
  const after = longest(wanted, start, (part, from) => searched.indexOf(part, from));
  // lastIndexOf takes negative places for 0
  const before = longest(wanted, start - 1, (part, from) => (from < 0 ? -1 : searched.lastIndexOf(part, from)));
  return better(start, after, before);
}

/** Searches for ever longer beginnings, each from the place of the one before. */
function longest(
  snippet: string,
  start: number,
  search: (part: string, from: number) => number,
): SnippetMatch | undefined {
  let offset = start;
  let length = 0;
  while (length < snippet.length) {
    const found = search(snippet.slice(0, length + 1), offset);
    if (found < 0) break;
    offset = found;
    length += 1;
  }
  return length === 0 ? undefined : { offset, length };
}

/** The longer match, or the one nearer to `start`. */
function better(
  start: number,
  one: SnippetMatch | undefined,
  other: SnippetMatch | undefined,
): SnippetMatch | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.length !== other.length) return one.length > other.length ? one : other;
  return Math.abs(one.offset - start) <= Math.abs(other.offset - start) ? one : other;
}

/** A place in a text. */
interface FoundOffset {
  /** In UTF-16 code units, from 0. */
  readonly offset: number;
  /** True if the text that Lisp knows is not in the file, so that the place is only the likeliest one. */
  readonly isChanged: boolean;
}

/** What is known about a text: the text that Lisp knows at the position, and the features of that Lisp, which decide `#+` and `#-`. */
interface KnownText {
  readonly snippet: string | undefined;
  readonly features: readonly string[] | undefined;
}

/** The place of a position in a text. */
function findOffset(source: SourceText, position: LocationPosition, known: KnownText): FoundOffset {
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

/** A place in a source: of a compiler note, a definition, a use, a frame, a warning, or the definition of a described symbol. */
export type AnySource = SourceLocation | Source | Place | DefinitionSource | LispWarning;

/** The mark of the current call in the text of a form. */
const HERE = "#:***HERE***";

/**
 * The same place as Swank gives it.
 *
 * @param code - The evaluated code, for warnings about it.
 */
function locationOf(source: AnySource, code?: string): SourceLocation {
  if ("message" in source) return ofWarning(source, code);
  if ("status" in source) {
    return source.status === "found" && source.place.kind === "form" ? inForm(source.place.text) : source;
  }
  if ("form" in source) return inForm(source.form);
  if ("kind" in source) return inFile(source.file, { kind: "offset", offset: (source.position ?? 0) + 1 });
  if ("path" in source) return inFile(source.path, { kind: "line", line: source.line, column: undefined });
  const { file, line = 1, column = 1 } = source;
  return inFile(file, { kind: "line", line, column: column - 1 });
}

function ofWarning({ position, path }: LispWarning, code: string | undefined): SourceLocation {
  if (position === undefined)
    return { status: "unknown", reason: `Lisp knows no form${path === undefined ? "" : ` in ${path}`}.` };
  if (path !== undefined) return inFile(path, position);
  if (code === undefined)
    return { status: "unknown", reason: "The warning is about the evaluated code, which was not given." };
  return { status: "found", place: { kind: "form", text: code }, position, snippet: undefined };
}

function inFile(path: string, position: LocationPosition): SourceLocation {
  return { status: "found", place: { kind: "file", path }, position, snippet: undefined };
}

/** The place of the mark, or the beginning. */
function inForm(text: string): SourceLocation {
  const before = Array.from(text.slice(0, Math.max(0, text.indexOf(HERE))));
  const position = { kind: "offset", offset: before.length + 1 } as const;
  return { status: "found", place: { kind: "form", text }, position, snippet: undefined };
}

const sourcesOptions = {
  /**
   * Reads the text of a place, as text or as the bytes of a file, for example from an editor's buffer or another machine. For `undefined`, and by
   * default, files are read on this machine.
   */
  read: check.function<(place: LocationPlace) => Promise<string | Uint8Array | undefined>>(),
  /**
   * The features of the Lisp, `lisp.info.features`. Paths count the top-level forms that Lisp reads. Default: unknown; each form behind `#+` or
   * `#-` is counted then.
   */
  features: check.texts,
};

/** Options of {@link Sources}. */
export interface SourcesOptions extends OptionsOf<typeof sourcesOptions> {}

/** A position in a text that was read. Lines and columns count from 1, and columns in UTF-16 code units, as editors show them. */
export interface FoundSource extends Position {
  readonly status: "found";
  readonly place: LocationPlace;
  /** The file, if the text is that of a file. */
  readonly path: string | undefined;
  /** True if the file has changed so that the text that Lisp knows is no longer in it. The position is the likeliest one then. */
  readonly isChanged: boolean;
  readonly source: SourceText;
}

/** A place whose text could not be read. */
export interface UnreadableSource {
  readonly status: "unreadable";
  readonly place: LocationPlace;
  readonly path: string | undefined;
  /** The line, if Lisp has given it. */
  readonly line: number | undefined;
  /** Why, as a sentence. */
  readonly reason: string;
  /** The error of reading. */
  readonly cause: unknown;
}

/** A place with its text and position, or the reason why it has none. */
export type LocatedSource =
  | FoundSource
  | UnreadableSource
  /** Lisp knows no place. */
  | { readonly status: "unknown"; readonly reason: string };

/**
 * Finds the lines and columns of the places that Lisp gives. Reads each text once: make a new object to see changes.
 *
 * @example
 * const sources = new Sources();
 * for (const { message, location } of notes) {
 *   const found = await sources.locate(location);
 *   if (found.status === "found") console.log(`${found.path}:${found.line}:${found.column}: ${message}`);
 * }
 */
export class Sources {
  readonly #read: NonNullable<SourcesOptions["read"]>;
  readonly #features: readonly string[] | undefined;
  readonly #texts = new Map<string, Promise<SourceText>>();

  /** @throws SwankError `INVALID_ARGUMENT` */
  constructor(options: SourcesOptions = {}) {
    checkOptions("Sources", options, sourcesOptions);
    const { read = async () => undefined, features } = options;
    this.#read = read;
    this.#features = features;
  }

  /**
   * The position of a place: of a compiler note, a definition, a use, a frame, a warning, or the definition of a described symbol. If Lisp knows
   * the text there, searches for it around the position, as Emacs does, because the file may have changed.
   *
   * @param options - `code`: the evaluated code, for warnings about its forms.
   * @throws SwankError `INVALID_ARGUMENT`; nothing else.
   */
  async locate(place: AnySource, options: { readonly code?: string | undefined } = {}): Promise<LocatedSource> {
    checkOptions("locate", options, { code: check.text });
    const { code } = options;
    const location = locationOf(place, code);
    if (location.status === "unknown") return location;
    const where = { place: location.place, path: "path" in location.place ? location.place.path : undefined };
    return this.#textOf(location.place).then(
      (source): FoundSource => {
        const { offset, isChanged } = findOffset(source, location.position, {
          snippet: location.snippet,
          features: this.#features,
        });
        return { status: "found", ...where, ...source.at(offset), isChanged, source };
      },
      (cause: unknown): UnreadableSource => {
        const line = location.position.kind === "line" ? location.position.line : undefined;
        const reason = cause instanceof Error ? cause.message : String(cause);
        return { status: "unreadable", ...where, line, reason, cause };
      },
    );
  }

  #textOf(place: LocationPlace): Promise<SourceText> {
    const key = JSON.stringify(place);
    const text = this.#texts.get(key) ?? this.#readText(place);
    this.#texts.set(key, text);
    return text;
  }

  async #readText(place: LocationPlace): Promise<SourceText> {
    return new SourceText((await this.#read(place)) ?? (await readDefault(place)));
  }
}

async function readDefault(place: LocationPlace): Promise<string | Uint8Array> {
  if (place.kind === "form") return place.text;
  if (place.kind === "archive") throw new Error(`${place.entry} is in the archive ${place.path}.`);
  if (place.kind === "buffer" && place.path === undefined) throw new Error(`The buffer ${place.name} has no file.`);
  return readFile(place.path ?? "");
}
