import { checkIndex, checkOptions, checkText, type OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import {
  callInspectorAction,
  closeInspector,
  describeInspected,
  type Inspected,
  inspectedParts,
  inspectorClosed,
  inspectPart,
  inspectValue,
  refreshInspector,
} from "../calls/inspector.js";
import type { InspectorPart } from "../calls/swank-inspection.js";
import type { LispFunction } from "../lisp/descriptor.js";
import type { LispRunner } from "../lisp/lisp-runner.js";

/** Entries of a page by default. */
const PAGE = 100;

/** How to inspect a value. */
export interface InspectOptions extends QuestionOptions {
  /** The package in which the expression is read. Default: the session's. */
  readonly package?: string | undefined;
}

const INSPECT_OPTIONS: OptionNames<InspectOptions> = { ...QUESTION_OPTIONS, package: true };

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
 * An object of the image, with its parts, made by `SwankClient.inspect`. Inspectors are independent of each other and of Emacs's. The image
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

  /** Made by `SwankClient.inspect` and `part`. */
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
    checkOptions("inspect", options, INSPECT_OPTIONS);
    const { package: packageName, signal } = options;
    checkText("expression", expression);
    if (packageName !== undefined) checkText("package", packageName);
    return new Inspector(lisp, await lisp.with({ signal }).run(inspectValue, expression, packageName));
  }

  /** False after `close`. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /**
   * Reads a page, at most 500 entries, and up to 20 more if a line ends there. A value's or action's `index` is valid as long as the inspector.
   *
   * @param start - The first entry, from 0: 0, or the `end` of the page before.
   * @param end - The entry after the last. Default: 100 after the first.
   */
  async parts(start = 0, end = start + PAGE): Promise<InspectorPage> {
    checkIndex("start", start);
    checkIndex("end", end);
    const { parts, count, hasMore } = await this.#run(inspectedParts, start, Math.max(start, end));
    return { parts, start, end: start + count, hasMore };
  }

  /**
   * Inspects a part.
   *
   * @param index - The `index` of a value that `parts` has returned.
   */
  async part(index: number): Promise<Inspector> {
    checkIndex("index", index);
    return new Inspector(this.#lisp, await this.#run(inspectPart, index), this);
  }

  /**
   * Does an action of the page.
   *
   * @param index - The `index` of an action that `parts` has returned.
   * @returns true if the page may have changed: read its parts again.
   */
  async action(index: number): Promise<boolean> {
    checkIndex("index", index);
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
