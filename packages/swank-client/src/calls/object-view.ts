import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

/**
 * What is special about a part.
 *
 * - `unbound`: a slot without a value.
 * - `shared`: a slot that all instances of the class share.
 * - `assigned`: a variable of a closure that code assigns.
 * - `cycle`: the place where a circular list returns to one of its elements.
 */
export const PART_MARKS = ["unbound", "shared", "assigned", "cycle"] as const;

/** A part of an object: a slot, an element, an entry of a table, and so on. */
export interface ObjectPart {
  /** The position among all parts, from 0. */
  readonly index: number;
  /** E.g. the name of a slot, the index of an element, or the key of an entry. */
  readonly name: string;
  /** The value as Lisp prints it on one line, within limits; empty for an unbound slot. */
  readonly text: string;
  /** The value's id; absent for numbers, characters, `nil` and `t`. */
  readonly id?: number | undefined;
  /** The id of the key of an entry, unless that is a number, character or symbol. */
  readonly keyId?: number | undefined;
  /** The Lisp expression that reaches the part; absent if there is none, or if it is long. */
  readonly expression?: string | undefined;
  readonly mark?: (typeof PART_MARKS)[number] | undefined;
  /** What the value is, if parts of it were wanted. */
  readonly kind?: string | undefined;
  /** Number of the value's own parts. */
  readonly count?: number | undefined;
  /** The first of them. */
  readonly parts?: readonly ObjectPart[] | undefined;
  /** True if the value's parts are elsewhere in the same answer. */
  readonly repeated?: boolean | undefined;
}

/** A fact about an object, e.g. the test of a hash table. */
export interface ObjectFact {
  readonly label: string;
  readonly text: string;
}

/** An object with a page of its parts. */
export interface ObjectView {
  /** The id, valid while the object lives. */
  readonly id: number;
  /** E.g. `hash table of 3`. */
  readonly kind: string;
  /** As Lisp prints it on one line, within limits. */
  readonly text: string;
  /** The Lisp expression that reaches it. */
  readonly expression: string;
  readonly facts: readonly ObjectFact[];
  /** Number of all its parts. */
  readonly count: number;
  readonly parts: readonly ObjectPart[];
  /** True if the limits in size or time left out parts or their texts. */
  readonly cut: boolean;
  /** Microseconds that looking at the object and printing it took in its image. */
  readonly looking: number;
}

const { boolean, integer, list, map, optional, plist, string, tuple } = decode;

const objectPart: Decoder<ObjectPart> = (datum) => partFields(datum);

const partFields: Decoder<ObjectPart> = plist({
  index: integer,
  name: string,
  text: string,
  id: optional(integer),
  keyId: optional(integer),
  expression: optional(string),
  mark: optional(keywordOf(PART_MARKS)),
  kind: optional(string),
  count: optional(integer),
  parts: optional(list(objectPart)),
  repeated: optional(boolean),
});

/** Decodes a plist of lisp/inspect-object/inspect-object.lisp. */
export const objectView: Decoder<ObjectView> = plist({
  id: integer,
  kind: string,
  text: string,
  expression: string,
  facts: list(map(tuple(string, string), ([label, text]) => ({ label, text }))),
  count: integer,
  parts: list(objectPart),
  cut: boolean,
  looking: integer,
});
