import { type Decoder, decode, type Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { integer, list, map, nullable, oneOf, plist, record, string, tagged } = decode;

/** A piece of an inspector's page. */
export type InspectorPart =
  | { readonly kind: "text"; readonly text: string }
  /** An object. `Inspector.part`, or `inspectNthPart` for a part of Swank's inspector, inspects it. */
  | { readonly kind: "value"; readonly text: string; readonly index: number }
  /** Something to do. `Inspector.action`, or `inspectorCallNthAction` for Swank's inspector, does it. */
  | { readonly kind: "action"; readonly text: string; readonly index: number }
  | { readonly kind: "label"; readonly text: string };

/** Some of an inspector's parts. */
export interface InspectorRange {
  readonly parts: readonly InspectorPart[];
  /** The number of all parts; larger than `end` if there are more, and then only an estimate. */
  readonly length: number;
  readonly start: number;
  readonly end: number;
}

/** An object in the inspector, with its first 500 parts. */
export interface Inspection extends InspectorRange {
  /** How the object is printed. */
  readonly title: string;
  /** Swank's id of the object for presentations, if there is one. */
  readonly id: number | undefined;
}

/** A text, `(:value TEXT INDEX)`, `(:action TEXT INDEX)` or `(:label TEXT)`. */
export const part: Decoder<InspectorPart> = oneOf(
  map(string, (text): InspectorPart => ({ kind: "text", text })),
  tagged({
    value: record({ text: string, index: integer }, { kind: "value" }),
    action: record({ text: string, index: integer }, { kind: "action" }),
    label: record({ text: string }, { kind: "label" }),
  }),
);

const range: Decoder<InspectorRange> = record({ parts: list(part), length: integer, start: integer, end: integer });

/** `(:title TEXT :id ID :content (PARTS LENGTH START END))` (swank.lisp, `istate>elisp`). */
export const inspection: Decoder<Inspection> = map(
  plist({ title: string, id: decode.optional(nullable(integer)), content: range }),
  ({ title, id, content }) => ({ title, id, ...content }),
);

const none = () => [];
const index = (number: number) => [number];
const source = (form: string): readonly Sexp[] => [form];

/** `(swank:init-inspector "FORM")`: evaluates a form, and inspects its value. All of these calls, of all clients and Emacs, share one inspector; `SwankClient.inspect` has its own. */
export const initInspector = lispFunction({
  name: "swank:init-inspector",
  encode: source,
  decode: nullable(inspection),
});

/** `(swank:inspect-nth-part INDEX)`: inspects a part. Without an inspected object it is an error. */
export const inspectNthPart = lispFunction({
  name: "swank:inspect-nth-part",
  encode: index,
  decode: nullable(inspection),
});

/** `(swank:inspector-call-nth-action INDEX)`: does an action. => the page then, if it changed */
export const inspectorCallNthAction = lispFunction({
  name: "swank:inspector-call-nth-action",
  encode: index,
  decode: nullable(inspection),
});

/** `(swank:inspector-range START END)`: further parts, from `start` to `end` (exclusive). */
export const inspectorRange = lispFunction({
  name: "swank:inspector-range",
  encode: (start: number, end: number) => [start, end],
  decode: range,
});

/** `(swank:inspector-pop)`: back to the object before; `undefined` at the first. */
export const inspectorPop = lispFunction({ name: "swank:inspector-pop", encode: none, decode: nullable(inspection) });

/** `(swank:inspector-next)`: forward again; `undefined` at the last. */
export const inspectorNext = lispFunction({ name: "swank:inspector-next", encode: none, decode: nullable(inspection) });

/** `(swank:inspector-reinspect)`: the same object, as it is now. Its parts have new indexes. */
export const inspectorReinspect = lispFunction({
  name: "swank:inspector-reinspect",
  encode: none,
  decode: nullable(inspection),
});

/** `(swank:inspector-toggle-verbose)`: shows more or less of the object. */
export const inspectorToggleVerbose = lispFunction({
  name: "swank:inspector-toggle-verbose",
  encode: none,
  decode: nullable(inspection),
});

/** `(swank:inspector-eval "FORM")`: evaluates with `*` bound to the inspected object. => the printed value */
export const inspectorEval = lispFunction({ name: "swank:inspector-eval", encode: source, decode: string });

/** `(swank:inspector-history)`: the objects inspected so far, as a text. */
export const inspectorHistory = lispFunction({ name: "swank:inspector-history", encode: none, decode: string });

/** `(swank:describe-inspectee)`: what DESCRIBE prints for the inspected object. */
export const describeInspectee = lispFunction({ name: "swank:describe-inspectee", encode: none, decode: string });

/** `(swank:pprint-inspector-part INDEX)`: a part, pretty-printed. */
export const pprintInspectorPart = lispFunction({ name: "swank:pprint-inspector-part", encode: index, decode: string });

/** `(swank:quit-inspector)`: forgets all inspected objects, so that they can be collected. */
export const quitInspector = lispFunction({ name: "swank:quit-inspector", encode: none, decode: () => undefined });

const FRAME_PLACE = { where: "stopped-thread" } as const;

/** `(swank:inspect-in-frame "FORM" FRAME)`: evaluates in a frame of the stopped thread, and inspects the value. */
export const inspectInFrame = lispFunction({
  ...FRAME_PLACE,
  name: "swank:inspect-in-frame",
  encode: (form: string, frame: number): readonly Sexp[] => [form, frame],
  decode: nullable(inspection),
});

/** `(swank:inspect-frame-var FRAME VARIABLE)`: inspects a variable, by its position in `frameLocalsAndCatchTags`. */
export const inspectFrameVar = lispFunction({
  ...FRAME_PLACE,
  name: "swank:inspect-frame-var",
  encode: (frame: number, variable: number) => [frame, variable],
  decode: nullable(inspection),
});

/** `(swank:inspect-current-condition)`: inspects the condition that stopped the thread. */
export const inspectCurrentCondition = lispFunction({
  ...FRAME_PLACE,
  name: "swank:inspect-current-condition",
  encode: none,
  decode: nullable(inspection),
});

/** `(swank:inspect-frame-function FRAME)`: inspects a frame's function. Since Swank 2.31. */
export const inspectFrameFunction = lispFunction({
  ...FRAME_PLACE,
  name: "swank:inspect-frame-function",
  encode: index,
  decode: nullable(inspection),
});

/** `(swank:inspect-nth-restart INDEX)`: inspects a restart. Since Swank 2.31. */
export const inspectNthRestart = lispFunction({
  ...FRAME_PLACE,
  name: "swank:inspect-nth-restart",
  encode: index,
  decode: nullable(inspection),
});
