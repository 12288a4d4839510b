import { type Decoded, type Decoder, decode, type Position } from "sexp-parser";

/** Code units between two places whose counts are kept. */
const STEP = 256;

/** The size of a code point in some unit. */
type SizeOf = (codePoint: number) => number;

/** The index of the last of the ascending numbers that is not larger than `value`; 0 if there is none. */
function lastAtMost(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Finds places in a text by the number of characters, or bytes, before them. */
export class CountedText {
  readonly #text: string;
  readonly #sizeOf: SizeOf;
  readonly #offsets = [0];
  readonly #counts = [0];

  constructor(text: string, sizeOf: SizeOf) {
    this.#text = text;
    this.#sizeOf = sizeOf;
    let count = 0;
    let next = STEP;
    for (let offset = 0; offset < text.length; offset += unitsAt(text, offset)) {
      if (offset >= next) {
        this.#offsets.push(offset);
        this.#counts.push(count);
        next = offset + STEP;
      }
      count += sizeOf(text.codePointAt(offset) ?? 0);
    }
  }

  /** The offset of the character that begins at, or contains, `count`; the end of the text if `count` is larger. */
  offsetOf(count: number): number {
    const known = lastAtMost(this.#counts, count);
    let offset = this.#offsets[known] ?? 0;
    let before = this.#counts[known] ?? 0;
    while (offset < this.#text.length) {
      before += this.#sizeOf(this.#text.codePointAt(offset) ?? 0);
      if (before > count) break;
      offset += unitsAt(this.#text, offset);
    }
    return offset;
  }
}

function unitsAt(text: string, offset: number): number {
  return (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
}

/** A text, and whether each of its characters is one byte of its file. */
interface DecodedSource {
  readonly text: string;
  readonly hasSingleBytes: boolean;
}

/** Bytes at the end of a file that are searched for local variables, as in Emacs and Swank. */
const LOCAL_VARIABLES_SIZE = 3000;

const SINGLE_BYTES = /^(?:iso-)?(?:8859-1|latin-1)$|^(?:us-)?ascii$/;

/** Reads bytes in the encoding that they name, otherwise in UTF-8, or in Latin-1 if they are no UTF-8. Keeps a byte order mark. */
function decodeSource(source: string | Uint8Array): DecodedSource {
  if (typeof source === "string") return { text: source, hasSingleBytes: false };
  const latin = Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString("latin1");
  const encoding = namedEncoding(latin) ?? "utf-8";
  const text = SINGLE_BYTES.test(encoding) ? undefined : (decoded(source, encoding) ?? decoded(source, "utf-8"));
  return { text: text ?? latin, hasSingleBytes: text === undefined };
}

/** The encoding in the first line, or in the local variables at the end (swank/backend.lisp, `guess-external-format`). */
function namedEncoding(text: string): string | undefined {
  const [firstLine = ""] = text.split("\n", 1);
  const [, properties] = /-\*-(.*?)-\*-/.exec(firstLine) ?? [];
  const [, variables] = /^.*Local Variables:(.*)End:/s.exec(text.slice(-LOCAL_VARIABLES_SIZE)) ?? [];
  return [properties, variables]
    .flatMap((part) => /coding:[ \t]*([^\s;]+)/.exec(part ?? "")?.[1] ?? [])
    .map((name) => name.toLowerCase().replace(/-(?:unix|dos|mac)$/, ""))
    .at(0);
}

/** The text, or `undefined` if the encoding is not known or the bytes do not follow it. */
function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

const BYTE_ORDER_MARK = "\ufeff";

/** The bytes of {@link BYTE_ORDER_MARK} in UTF-8. */
const MARK_BYTES = 3;

const isOne: SizeOf = () => 1;

const inUtf8: SizeOf = (codePoint) => (codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4);

/**
 * The text of a file, with the positions of Lisp in it. Lisp counts characters (code points), and for some errors bytes; editors and JavaScript
 * count UTF-16 code units. The first conversion passes over the text once; all others search in what it has counted.
 */
export class SourceText {
  /** Without the byte order mark, as editors show it. Ends of lines are unchanged. */
  readonly text: string;
  readonly #hasMark: boolean;
  readonly #hasSingleBytes: boolean;
  #lineStarts: readonly number[] | undefined;
  #characters: CountedText | undefined;
  #bytes: CountedText | undefined;

  /**
   * @param source - A text; or the bytes of a file, in the encoding that the file names as Emacs and Swank read it (`-*- coding: latin-1 -*-`),
   * otherwise in UTF-8, or in Latin-1 if they are no UTF-8.
   */
  constructor(source: string | Uint8Array) {
    const { text, hasSingleBytes } = decodeSource(source);
    this.#hasMark = text.startsWith(BYTE_ORDER_MARK);
    this.text = this.#hasMark ? text.slice(1) : text;
    this.#hasSingleBytes = hasSingleBytes;
  }

  /** The position of an offset in UTF-16 code units, from 0. An offset beyond the end counts as the end. */
  at(offset: number): Position {
    this.#lineStarts ??= lineStarts(this.text);
    const within = Math.max(0, Math.min(offset, this.text.length));
    const line = lastAtMost(this.#lineStarts, within);
    return { offset: within, line: line + 1, column: within - (this.#lineStarts[line] ?? 0) + 1 };
  }

  /** The position of a character, counted by Lisp from 1. */
  atCharacter(position: number): Position {
    this.#characters ??= new CountedText(this.text, isOne);
    return this.at(this.#characters.offsetOf(position - (this.#hasMark ? 2 : 1)));
  }

  /** The position of the character that contains a byte, counted from 1. */
  atByte(position: number): Position {
    if (this.#hasSingleBytes) return this.atCharacter(position);
    this.#bytes ??= new CountedText(this.text, inUtf8);
    return this.at(this.#bytes.offsetOf(position - 1 - (this.#hasMark ? MARK_BYTES : 0)));
  }

  /** The position of a line, from 1, and a column in characters, from 0. Without a column, of the first visible character of the line. */
  atLine(line: number, column?: number): Position {
    this.#lineStarts ??= lineStarts(this.text);
    const start = this.#lineStarts[line - 1] ?? this.text.length;
    const content = this.text.slice(start, (this.#lineStarts[line] ?? this.text.length + 1) - 1);
    const within = column === undefined ? content.search(/\S|$/) : new CountedText(content, isOne).offsetOf(column);
    return this.at(start + within);
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let newline = text.indexOf("\n"); newline >= 0; newline = text.indexOf("\n", newline + 1))
    starts.push(newline + 1);
  return starts;
}

const { any, integer, list, map, nullable, oneOf, plist, record, string, tagged, tupleRest, withDefault } = decode;

const place = tagged({
  file: record({ path: string }, { kind: "file" }),
  buffer: map(record({ name: string }, { kind: "buffer" }), (buffer) => ({ ...buffer, path: undefined })),
  "buffer-and-file": record({ name: string, path: withDefault(nullable(string), undefined) }, { kind: "buffer" }),
  "source-form": record({ text: string }, { kind: "form" }),
  zip: record({ path: string, entry: string }, { kind: "archive" }),
});

/**
 * The text that a location points into. `buffer`: an editor's buffer, with its file if the editor named one. `form`: evaluated code, where
 * `text` is the form, with `#:***HERE***` around the place if it is known. `archive`: a file in an archive.
 */
export type LocationPlace = Decoded<typeof place>;

/** Swank may add the length of the text at the position, which is ignored. An offset that it does not find is `nil`. */
const positions = tagged({
  position: map(record({ offset: nullable(integer) }, { kind: "offset" }), ({ kind, offset = 1 }) => ({
    kind,
    offset,
  })),
  offset: map(record({ start: integer, delta: integer }, { kind: "offset" }), ({ kind, start, delta }) => ({
    kind,
    offset: start + delta,
  })),
  line: record({ line: integer, column: withDefault(nullable(integer), undefined) }, { kind: "line" }),
  "function-name": record({ name: string }, { kind: "function" }),
  method: map(tupleRest([string, any], list(any)), ([name, specializers, qualifiers]) => ({
    kind: "method" as const,
    name,
    specializers,
    qualifiers,
  })),
  "source-path": record({ path: list(integer), offset: withDefault(nullable(integer), undefined) }, { kind: "path" }),
  eof: record({}, { kind: "end" }),
});

/**
 * A position in that text. Offsets count Lisp's characters from 1, or bytes (`byte`) for errors of the reader: see `Sources`, which converts
 * them. `path`: the path into the form at `offset`, or from the top-level forms without it; its first number is that of the top-level form.
 */
export type LocationPosition = Decoded<typeof positions> | { readonly kind: "byte"; readonly offset: number };

const position: Decoder<LocationPosition> = positions;

/** Hints are a property list, or a list that contains one. */
const snippet = oneOf(
  plist({ snippet: withDefault(string, undefined) }),
  map(list(plist({ snippet: withDefault(string, undefined) })), ([hints]) => hints),
  () => undefined,
);

const found = map(
  record({ place, position, hints: withDefault(snippet, undefined) }),
  ({ place: where, position: at, hints }) => ({
    status: "found" as const,
    place: where,
    position: at,
    /** The text at the position; compare it, because the file may have changed. */
    snippet: hints?.snippet,
  }),
);

const unknown = record(
  {
    /** Why it is unknown, in Swank's words. */
    reason: string,
  },
  { status: "unknown" },
);

/** `(:location PLACE POSITION HINTS)` or `(:error "why")` (swank/backend.lisp, `location`). */
export const location = tagged({ location: found, error: unknown });

/** A place in source code, or the reason why there is none. */
export type SourceLocation = Readonly<Decoded<typeof location>>;
