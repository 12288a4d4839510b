import { type Decoded, type Decoder, decode, quote } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { type Check, check, type OptionsOf, question } from "../base/options.js";
import { keywordForms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";

const { boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple } = decode;

/** Most parts and levels of parts of an object. */
const MOST_PARTS = 500;

const MOST_LEVELS = 5;

const checkPath: Check<readonly number[]> = (name, value) => {
  const path: readonly unknown[] = Array.isArray(value) ? value : [value];
  return path.map((index) => check.index(name, index));
};

const inspectOptions = {
  ...question,
  /** Indexes of parts: that of a part of the object, of a part of that part, and so on. Default: the object itself. */
  path: checkPath,
  /** The Lisp expression for the object, from which those of its parts are made. Default: `(swank-objects:ref ID)`. */
  expression: check.text,
  /** The first part, from 0. Default: 0. */
  start: check.index,
  /** Number of parts, at most 500. Default: 50. */
  count: check.count(0, MOST_PARTS),
  /** Levels of parts, at most 5: 0 for none, 2 for the parts of parts, too, and so on. Default: 1. */
  depth: check.count(0, MOST_LEVELS),
  /** Keeps the object alive, until it is released, 100 others are kept, the session is reset or the client disconnects. Default: false. */
  keep: check.flag,
};

/** How much of an object to show. */
export interface InspectObjectOptions extends OptionsOf<typeof inspectOptions> {}

/**
 * What is special about a part.
 *
 * - `unbound`: a slot without a value.
 * - `shared`: a slot that all instances of the class share.
 * - `assigned`: a variable of a closure that code assigns.
 * - `cycle`: the place where a circular list returns to one of its elements.
 */
const PART_MARKS = ["unbound", "shared", "assigned", "cycle"] as const;

const partFields = {
  /** The position among all parts, from 0. */
  index: integer,
  /** E.g. the name of a slot, the index of an element, or the key of an entry. */
  name: string,
  /** The value as Lisp prints it on one line, within limits; empty for an unbound slot. */
  text: string,
  /** The value's id; absent for numbers, characters, `nil` and `t`. */
  id: optional(integer),
  /** The id of the key of an entry, unless that is a number, character or symbol. */
  keyId: optional(integer),
  /** The Lisp expression that reaches the part; absent if there is none, or if it is long. */
  expression: optional(string),
  mark: optional(keywordOf(PART_MARKS)),
  /** What the value is, if parts of it were wanted. */
  kind: optional(string),
  /** Number of the value's own parts. */
  count: optional(integer),
  /** True if the value's parts are elsewhere in the same answer. */
  repeated: optional(boolean),
};

const leafPart = plist(partFields);

/** A part of an object: a slot, an element, an entry of a table, and so on. */
export interface ObjectPart extends Decoded<typeof leafPart> {
  /** The first of the value's own parts. */
  readonly parts?: readonly ObjectPart[] | undefined;
}

const objectPart: Decoder<ObjectPart> = decode.recursive((self) =>
  plist({ ...partFields, parts: optional(list(self)) }),
);

const fact = record({ label: string, text: string });

/** A fact about an object, e.g. the test of a hash table. */
export interface ObjectFact extends Decoded<typeof fact> {}

/** Decodes a plist of lisp/observe/inspector.lisp. */
const objectView = plist({
  /** The id, valid while the object lives. */
  id: integer,
  /** E.g. `hash table of 3`. */
  kind: string,
  /** As Lisp prints it on one line, within limits. */
  text: string,
  /** The Lisp expression that reaches it. */
  expression: string,
  facts: list<ObjectFact>(fact),
  /** Number of all its parts. */
  count: integer,
  parts: list<ObjectPart>(objectPart),
  /** True if the limits in size or time left out parts or their texts. */
  cut: boolean,
  /** Microseconds that looking at the object and printing it took in its image. */
  looking: integer,
});

/** An object with a page of its parts. */
export interface ObjectView extends Decoded<typeof objectView> {}

/** Milliseconds that the image has to describe an object. */
const INSPECT_TIME = 20_000;

/** `(:no-object ID TEXT)` */
export const noObject = map(
  tuple(integer, nullable(string)),
  ([id, text]) => new SwankError("NO_SUCH_OBJECT", text ?? `There is no object ${id}.`),
);

/** `(:no-part INDEX COUNT)` */
const noPart = map(tuple(integer, integer), ([index, count]) => {
  const known = count === 0 ? "It has no parts." : `It has parts 0 to ${count - 1}; unbound slots have no value.`;
  return new SwankError("INVALID_ARGUMENT", `There is no part ${index}. ${known}`);
});

/** Describes a numbered object, or a part of it (lisp/observe/inspector.lisp). */
const inspectObjectCall = lispFunction({
  name: "inspect-object",
  ability: "inspect",
  module: "observe",
  encode: (id: number, { path = [], expression, start = 0, count = 50, depth = 1, keep }: InspectObjectOptions) => [
    id,
    quote(path),
    ...keywordForms({ expression, start, count, depth, keep }),
  ],
  decode: tagged({ object: objectView }),
  refusals: { "no-object": () => noObject, "no-part": () => noPart },
  timeout: INSPECT_TIME,
  label: () => "inspecting an object",
});

/** Describes an object with a page of its parts. */
export async function inspectObject(lisp: LispRunner, id: number, options: InspectObjectOptions): Promise<ObjectView> {
  return questionsTo(lisp, "inspectObject", options, inspectOptions).run(
    inspectObjectCall,
    check.id("id", id),
    options,
  );
}

/** No longer keeps a numbered object alive. => whether it was kept */
export const releaseObject = lispFunction({
  name: "release-object",
  ability: "inspect",
  module: "observe",
  encode: (id: number) => [id],
  decode: boolean,
  label: () => "releasing an object",
});

/** No longer keeps any object alive for this client. => the number of those that were kept */
export const releaseObjects = lispFunction({
  name: "release-objects",
  ability: "inspect",
  module: "observe",
  encode: () => [],
  decode: integer,
  label: () => "releasing objects",
});
