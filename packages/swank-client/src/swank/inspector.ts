import { type Decoded, type Decoder, decode, NIL } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, type OptionsOf, question } from "../base/options.js";
import { noSuchPackage } from "../evaluation/stop-calls.js";
import { type LispFunction, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { call, callsWith, nothing, oneNumber, oneText } from "./call.js";

const { integer, list, map, nullable, oneOf, plist, record, string, tagged, withDefault, boolean, tuple } = decode;

/** A text, `(:value TEXT INDEX)`, `(:action TEXT INDEX)` or `(:label TEXT)`. */
const part = oneOf(
  map(string, (text) => ({ kind: "text" as const, text })),
  tagged({
    value: record({ text: string, index: integer }, { kind: "value" }),
    action: record({ text: string, index: integer }, { kind: "action" }),
    label: record({ text: string }, { kind: "label" }),
  }),
);

/**
 * A piece of an inspector's page. A `value` is an object: `Inspector.part`, or `inspectNthPart` for a part of Swank's inspector, inspects it. An
 * `action` is something to do: `Inspector.action`, or `inspectorCallNthAction` for Swank's inspector, does it.
 */
export type InspectorPart = Decoded<typeof part>;

const range = record({
  parts: list<InspectorPart>(part),
  /** The number of all parts; larger than `end` if there are more, and then only an estimate. */
  length: integer,
  start: integer,
  end: integer,
});

/** Some of an inspector's parts. */
export interface InspectorRange extends Decoded<typeof range> {}

const state = plist({
  /** How the object is printed. */
  title: string,
  /** Swank's id of the object for presentations, if there is one. */
  id: withDefault(nullable(integer), undefined),
  content: range,
});

/** `(:title TEXT :id ID :content (PARTS LENGTH START END))` (swank.lisp, `istate>elisp`). */
const inspectedObject = map(state, ({ content, ...about }) => ({ ...about, ...content }));

/** An object in the inspector, with its first 500 parts. */
export interface Inspection extends Decoded<typeof inspectedObject> {}

export const inspection = nullable<Inspection>(inspectedObject);

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

/** Milliseconds that the image has to answer; inspecting an object may call the user's methods. */
const ANSWER_TIME = 30_000;

/** `(:inspector ID TITLE CLASS)` (lisp/observe/inspector.lisp, `open-inspector`) */
const inspected = tagged({
  inspector: record({
    id: integer,
    /** As Lisp prints it, within limits, on one line. */
    title: string,
    /** The name of its class, with its package. */
    class: string,
  }),
});

/** An object that the image keeps for this client. */
interface Inspected extends Decoded<typeof inspected> {}

/** The error of a call after the inspector was closed. */
function inspectorClosed(): SwankError {
  return new SwankError("INSPECTOR_CLOSED", "The inspector is closed.");
}

/** `(:closed)` */
const closed = { closed: () => map(tuple(), inspectorClosed) };

/** `(:no-part)` */
const noPart = (kind: string, index: number): Decoder<SwankError> =>
  map(tuple(), () => new SwankError("INVALID_ARGUMENT", `The parts that were read have no ${kind} ${index}.`));

const common = { module: "observe", timeout: ANSWER_TIME } as const;

/** Evaluates an expression, and keeps its value for an inspector (lisp/observe/inspector.lisp). */
const inspectValue = lispFunction({
  name: "inspect-value",
  module: "observe",
  encode: (expression: string, packageName: string | undefined) => [expression, packageName ?? NIL],
  decode: inspected,
  refusals: { "no-such-package": (_expression: string, packageName = "") => noSuchPackage(packageName) },
  label: () => "inspecting a value",
});

/** Keeps a part of an inspected object for an inspector. */
const inspectPart = lispFunction({
  ...common,
  name: "inspect-part",
  encode: (id: number, index: number) => [id, index],
  decode: inspected,
  refusals: { ...closed, "no-part": (_id: number, index: number) => noPart("value", index) },
  label: () => "inspecting a part",
});

/** `(:parts (PIECE ...) COUNT MORE)` */
const parts = tagged({ parts: record({ parts: list(part), count: integer, hasMore: boolean }) });

/** Reads the parts of an inspected object: the entries from `start` to `end`, at most 500. */
const inspectedParts = lispFunction({
  ...common,
  name: "inspected-parts",
  encode: (id: number, start: number, end: number) => [id, start, end],
  decode: parts,
  refusals: closed,
  label: () => "reading the parts of an object",
});

/** Does an action of an inspected object. => whether its parts have been read again */
const callInspectorAction = lispFunction({
  ...common,
  name: "call-action",
  encode: (id: number, index: number) => [id, index],
  decode: boolean,
  refusals: { ...closed, "no-part": (_id: number, index: number) => noPart("action", index) },
  label: () => "doing an action of an object",
});

/** Reads the parts of an inspected object again. */
const refreshInspector = lispFunction({
  ...common,
  name: "refresh-inspector",
  encode: (id: number) => [id],
  decode: decode.any,
  refusals: closed,
  label: () => "inspecting an object again",
});

/** What `describe` prints for an inspected object. */
const describeInspected = lispFunction({
  ...common,
  name: "describe-inspected",
  encode: (id: number) => [id],
  decode: string,
  refusals: closed,
  label: () => "describing an object",
});

/** Releases an inspected object. */
const closeInspector = lispFunction({
  ...common,
  name: "close-inspector",
  encode: (id: number) => [id],
  decode: decode.any,
  label: () => "closing an inspector",
});

/** Entries of a page by default. */
const PAGE = 100;

const inspectOptions = {
  ...question,
  /** The package in which the expression is read. Default: the session's. */
  package: check.text,
};

/** How to inspect a value. */
export interface InspectOptions extends OptionsOf<typeof inspectOptions> {}

/** A page of an inspected object. */
export interface InspectorPage {
  readonly parts: readonly InspectorPart[];
  /** The page is that of the entries from `start` to `end` (exclusive). An entry is one part, or some parts on one line. */
  readonly start: number;
  readonly end: number;
  /** True if there are entries from `end` on. */
  readonly hasMore: boolean;
}

/**
 * An object of the image, with its parts, made by `Inspector.open`. Inspectors are independent of each other and of Emacs's. The image
 * keeps the object and its parts until the inspector is closed, the session is reset or the client disconnects. All methods but `close` reject with
 * `INSPECTOR_CLOSED` then, and with the reason of a lost connection.
 */
export class Inspector {
  /** The object as Lisp prints it on one line, within limits. */
  readonly title: string;
  /** The name of the object's class, with its package. */
  readonly class: string;
  /** The inspector of the object whose part this is. */
  readonly parent: Inspector | undefined;
  readonly #lisp: LispRunner;
  readonly #id: number;
  #isClosed = false;

  /** Made by `open` and `part`. */
  constructor(lisp: LispRunner, { id, title, class: className }: Inspected, parent?: Inspector) {
    this.#lisp = lisp;
    this.#id = id;
    this.title = title;
    this.class = className;
    this.parent = parent;
  }

  /**
   * Evaluates an expression, and inspects its value.
   *
   * @throws SwankError `REQUEST_FAILED` if the code fails, `NO_SUCH_PACKAGE`, `INVALID_ARGUMENT`
   */
  static async open(lisp: LispRunner, expression: string, options: InspectOptions = {}): Promise<Inspector> {
    const asking = questionsTo(lisp, "inspect", options, inspectOptions);
    check.text("expression", expression);
    return new Inspector(lisp, await asking.run(inspectValue, expression, options.package));
  }

  /** False after `close`. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /**
   * Reads a page, at most 500 entries, and up to 20 more if a line ends there. Each reading gives values and actions new indexes; all stay valid as
   * long as the inspector.
   *
   * @param start - The first entry, from 0: 0, or the `end` of the page before.
   * @param end - The entry after the last. Default: 100 after the first.
   */
  async parts(start = 0, end = start + PAGE): Promise<InspectorPage> {
    check.index("start", start);
    check.index("end", end);
    const { parts, count, hasMore } = await this.#run(inspectedParts, start, Math.max(start, end));
    return { parts, start, end: start + count, hasMore };
  }

  /**
   * Inspects a part.
   *
   * @param index - The `index` of a value that `parts` has returned.
   */
  async part(index: number): Promise<Inspector> {
    check.index("index", index);
    return new Inspector(this.#lisp, await this.#run(inspectPart, index), this);
  }

  /**
   * Does an action of the page.
   *
   * @param index - The `index` of an action that `parts` has returned.
   * @returns true if the page may have changed: read its parts again.
   */
  async action(index: number): Promise<boolean> {
    check.index("index", index);
    return this.#run(callInspectorAction, index);
  }

  /** Makes the page anew, because the object has changed. */
  async refresh(): Promise<void> {
    await this.#run(refreshInspector);
  }

  /** What `describe` prints for the object. */
  async describe(): Promise<string> {
    return this.#run(describeInspected);
  }

  /** Releases the object. Inspectors of its parts stay open. Never rejects: the end of the connection releases the object, too. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#lisp.run(closeInspector, this.#id).catch(() => undefined);
  }

  /** Closes the inspector at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<Args extends readonly unknown[], Result>(
    called: LispFunction<[number, ...Args], Result>,
    ...args: Args
  ): Promise<Result> {
    if (this.#isClosed) throw inspectorClosed();
    return this.#lisp.run(called, this.#id, ...args);
  }
}
