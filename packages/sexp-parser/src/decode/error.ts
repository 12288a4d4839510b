import type { DecodeErrorCode } from "../errors.js";
import { PrintError } from "../errors.js";
import { preview } from "../print/printer.js";
import type { Sexp } from "../types.js";
import type { Decoder } from "./decoder.js";

const MAX_FOUND = 120;
const MAX_PATH = 200;

/**
 * A datum that does not have the expected shape.
 *
 * The message reads `debug[2].restarts[0]: expected a string, found 42`.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  readonly code: DecodeErrorCode;
  /** The expected shape, as a phrase: `a string`. */
  readonly expected: string;
  /** The start of the text of the datum found. */
  readonly found: string;
  #path = "";

  constructor(expected: string, found: Sexp, code: DecodeErrorCode = "SHAPE") {
    super();
    this.code = code;
    this.expected = expected;
    this.found = describe(found);
    this.#describe();
  }

  /**
   * The path to the datum: list indices and field names from the outside in; empty for the whole datum.
   *
   * A tag and `rest` count as fields. `...` replaces the outer part of a long path.
   */
  get path(): string {
    return this.#path.replace(/^\.(?!\.)/, "");
  }

  /** Prepends a segment (`[2]` or `.field`) to the path. Each enclosing decoder calls it. */
  within(segment: string): this {
    if (this.#path.length < MAX_PATH) this.#path = segment + this.#path;
    else if (!this.#path.startsWith("...")) this.#path = `...${this.#path}`;
    this.#describe();
    return this;
  }

  #describe(): void {
    const where = this.path === "" ? "" : `${this.path}: `;
    this.message = `${where}expected ${this.expected}, found ${this.found}`;
  }
}

/** Prepends a segment to the path of a `DecodeError`; returns other errors unchanged. */
export function located(error: unknown, segment: string): unknown {
  return error instanceof DecodeError ? error.within(segment) : error;
}

/** Decodes a part of a datum; `segment` is its place, `[2]` or `.field`. */
export function within<T>(segment: string, decode: Decoder<T>, datum: Sexp): T {
  try {
    return decode(datum);
  } catch (error) {
    throw located(error, segment);
  }
}

function describe(datum: Sexp): string {
  try {
    return preview(datum, MAX_FOUND);
  } catch (error) {
    if (error instanceof PrintError) return "something that is not Lisp data";
    throw error;
  }
}
