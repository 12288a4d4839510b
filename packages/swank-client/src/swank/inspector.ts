import { type Decoder, decode, NIL } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, type OptionsOf, question } from "../base/options.js";
import { noSuchPackage } from "../evaluation/stop-calls.js";
import { type LispFunction, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { type InspectorPart, part } from "./inspecting.js";

const { boolean, integer, list, map, string, tagged, tuple } = decode;

/** Milliseconds that the image has to answer; inspecting an object may call the user's methods. */
const ANSWER_TIME = 30_000;

/** An object that the image keeps for this client. */
interface Inspected {
  readonly id: number;
  /** As Lisp prints it, within limits, on one line. */
  readonly title: string;
  /** The name of its class, with its package. */
  readonly class: string;
}

/** `(:inspector ID TITLE CLASS)` (lisp/observe/inspector.lisp, `open-inspector`) */
const inspected: Decoder<Inspected> = tagged({
  inspector: map(tuple(integer, string, string), ([id, title, className]) => ({ id, title, class: className })),
});

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
const parts = tagged({
  parts: map(tuple(list(part), integer, boolean), ([pieces, count, hasMore]) => ({ parts: pieces, count, hasMore })),
});

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
