import { type Decoder, decode, type Sexp } from "sexp-parser";

/** The text that a location points into. */
export type LocationPlace =
  | { readonly kind: "file"; readonly path: string }
  /** An editor's buffer, with its file if the editor named one. */
  | { readonly kind: "buffer"; readonly name: string; readonly path: string | undefined }
  /** Evaluated code: `text` is the form, with `#:***HERE***` around the place if it is known. */
  | { readonly kind: "form"; readonly text: string }
  /** A file in an archive. */
  | { readonly kind: "archive"; readonly path: string; readonly entry: string };

/** A position in that text. Offsets count Lisp's characters from 1, or bytes: see `Sources`, which converts them. */
export type LocationPosition =
  | { readonly kind: "offset"; readonly offset: number }
  /** Of errors of the reader, for which SBCL counts bytes. */
  | { readonly kind: "byte"; readonly offset: number }
  | { readonly kind: "line"; readonly line: number; readonly column: number | undefined }
  | { readonly kind: "function"; readonly name: string }
  | {
      readonly kind: "method";
      readonly name: string;
      readonly specializers: Sexp;
      readonly qualifiers: readonly Sexp[];
    }
  /** The path into the form at `offset`, or from the top-level forms without it; its first number is that of the top-level form. */
  | { readonly kind: "path"; readonly path: readonly number[]; readonly offset: number | undefined }
  | { readonly kind: "end" };

/** A place in source code, or the reason why there is none. */
export type SourceLocation =
  | {
      readonly status: "found";
      readonly place: LocationPlace;
      readonly position: LocationPosition;
      /** The text at the position; compare it, because the file may have changed. */
      readonly snippet: string | undefined;
    }
  | { readonly status: "unknown"; readonly reason: string };

const { any, integer, map, nullable, oneOf, optional, record, string } = decode;

const place: Decoder<LocationPlace> = decode.tagged({
  file: record({ path: string }, { kind: "file" }),
  buffer: map(record({ name: string }, { kind: "buffer" }), (buffer) => ({ ...buffer, path: undefined })),
  "buffer-and-file": record({ name: string, path: optional(nullable(string)) }, { kind: "buffer" }),
  "source-form": record({ text: string }, { kind: "form" }),
  zip: record({ path: string, entry: string }, { kind: "archive" }),
});

/** Swank may add the length of the text at the position, which is ignored. An offset that it does not find is `nil`. */
const position: Decoder<LocationPosition> = decode.tagged({
  position: map(record({ offset: nullable(integer) }), ({ offset = 1 }) => ({ kind: "offset", offset }) as const),
  offset: map(
    record({ start: integer, delta: integer }),
    ({ start, delta }) => ({ kind: "offset", offset: start + delta }) as const,
  ),
  line: record({ line: integer, column: optional(nullable(integer)) }, { kind: "line" }),
  "function-name": record({ name: string }, { kind: "function" }),
  method: map(decode.tupleRest([string, any], decode.list(any)), ([name, specializers, qualifiers]) => {
    return { kind: "method", name, specializers, qualifiers } as const;
  }),
  "source-path": map(
    record({ path: decode.list(integer), offset: optional(nullable(integer)) }),
    ({ path, offset }) => {
      return { kind: "path", path, offset } as const;
    },
  ),
  eof: record({}, { kind: "end" }),
});

/** Hints are a property list, or a list that contains one. */
const snippet = oneOf(
  decode.plist({ snippet: optional(string) }),
  map(decode.list(decode.plist({ snippet: optional(string) })), ([hints]) => hints),
  () => undefined,
);

const found = decode.tagged({
  location: map(
    record({ place, position, hints: optional(snippet) }, { status: "found" }),
    ({ status, place, position, hints }) => ({ status, place, position, snippet: hints?.snippet }),
  ),
});

const unknown = decode.tagged({ error: record({ reason: string }, { status: "unknown" }) });

/** `(:location PLACE POSITION HINTS)` or `(:error "why")` (swank/backend.lisp, `location`). */
export const location: Decoder<SourceLocation> = oneOf(found, unknown);
