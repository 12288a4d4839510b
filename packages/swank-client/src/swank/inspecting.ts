import { type Decoded, type Decoder, decode } from "sexp-parser";
import { call, callsWith, nothing, oneNumber, oneText } from "./call.js";

const { integer, list, map, nullable, oneOf, plist, record, string, tagged, withDefault } = decode;

/** A piece of an inspector's page. */
export type InspectorPart =
  | { readonly kind: "text" | "label"; readonly text: string }
  /** An object. `Inspector.part`, or `inspectNthPart` for a part of Swank's inspector, inspects it. */
  | { readonly kind: "value"; readonly text: string; readonly index: number }
  /** Something to do. `Inspector.action`, or `inspectorCallNthAction` for Swank's inspector, does it. */
  | { readonly kind: "action"; readonly text: string; readonly index: number };

/** A text, `(:value TEXT INDEX)`, `(:action TEXT INDEX)` or `(:label TEXT)`. */
export const part: Decoder<InspectorPart> = oneOf(
  map(string, (text) => ({ kind: "text", text }) as const),
  tagged({
    value: record({ text: string, index: integer }, { kind: "value" }),
    action: record({ text: string, index: integer }, { kind: "action" }),
    label: record({ text: string }, { kind: "label" }),
  }),
);

const range = record({
  parts: list(part),
  /** The number of all parts; larger than `end` if there are more, and then only an estimate. */
  length: integer,
  start: integer,
  end: integer,
});

/** Some of an inspector's parts. */
export interface InspectorRange extends Decoded<typeof range> {}

/** An object in the inspector, with its first 500 parts. */
export interface Inspection extends InspectorRange {
  /** How the object is printed. */
  readonly title: string;
  /** Swank's id of the object for presentations, if there is one. */
  readonly id: number | undefined;
}

/** `(:title TEXT :id ID :content (PARTS LENGTH START END))` (swank.lisp, `istate>elisp`). */
export const inspection: Decoder<Inspection | undefined> = nullable(
  map(
    plist({ title: string, id: withDefault(nullable(integer), undefined), content: range }),
    ({ content, ...about }) => {
      return { ...about, ...content };
    },
  ),
);

const inStop = callsWith({ where: "stopped-thread" });

/** Swank's inspector. All of these calls, of all clients and Emacs, share it; each `Inspector` has its own. */
export const inspecting = {
  /** `(swank:init-inspector "FORM")`: evaluates a form, and inspects its value. */
  initInspector: call("swank:init-inspector", inspection, oneText),
  /** `(swank:inspect-nth-part INDEX)`: inspects a part. Without an inspected object it is an error. */
  inspectNthPart: call("swank:inspect-nth-part", inspection, oneNumber),
  /** `(swank:inspector-call-nth-action INDEX)`: does an action. => the page then, if it changed */
  inspectorCallNthAction: call("swank:inspector-call-nth-action", inspection, oneNumber),
  /** `(swank:inspector-range START END)`: further parts, from `start` to `end` (exclusive). */
  inspectorRange: call<[start: number, end: number], InspectorRange>("swank:inspector-range", range, (...at) => at),
  /** `(swank:inspector-pop)`: back to the object before; `undefined` at the first. */
  inspectorPop: call("swank:inspector-pop", inspection),
  /** `(swank:inspector-next)`: forward again; `undefined` at the last. */
  inspectorNext: call("swank:inspector-next", inspection),
  /** `(swank:inspector-reinspect)`: the same object, as it is now. Its parts have new indexes. */
  inspectorReinspect: call("swank:inspector-reinspect", inspection),
  /** `(swank:inspector-toggle-verbose)`: shows more or less of the object. */
  inspectorToggleVerbose: call("swank:inspector-toggle-verbose", inspection),
  /** `(swank:inspector-eval "FORM")`: evaluates with `*` bound to the inspected object. => the printed value */
  inspectorEval: call("swank:inspector-eval", string, oneText),
  /** `(swank:inspector-history)`: the objects inspected so far, as a text. */
  inspectorHistory: call("swank:inspector-history", string),
  /** `(swank:describe-inspectee)`: what DESCRIBE prints for the inspected object. */
  describeInspectee: call("swank:describe-inspectee", string),
  /** `(swank:pprint-inspector-part INDEX)`: a part, pretty-printed. */
  pprintInspectorPart: call("swank:pprint-inspector-part", string, oneNumber),
  /** `(swank:quit-inspector)`: forgets all inspected objects, so that they can be collected. */
  quitInspector: call("swank:quit-inspector", nothing),
  /** `(swank:inspect-in-frame "FORM" FRAME)`: evaluates in a frame of the stopped thread, and inspects the value. */
  inspectInFrame: inStop("swank:inspect-in-frame", inspection, (form: string, frame: number) => [form, frame]),
  /** `(swank:inspect-frame-var FRAME VARIABLE)`: inspects a variable, by its position in `frameLocalsAndCatchTags`. */
  inspectFrameVar: inStop("swank:inspect-frame-var", inspection, (frame: number, variable: number) => [
    frame,
    variable,
  ]),
  /** `(swank:inspect-current-condition)`: inspects the condition that stopped the thread. */
  inspectCurrentCondition: inStop("swank:inspect-current-condition", inspection),
  /** `(swank:inspect-frame-function FRAME)`: inspects a frame's function. Since Swank 2.31. */
  inspectFrameFunction: inStop("swank:inspect-frame-function", inspection, oneNumber),
  /** `(swank:inspect-nth-restart INDEX)`: inspects a restart. Since Swank 2.31. */
  inspectNthRestart: inStop("swank:inspect-nth-restart", inspection, oneNumber),
};
