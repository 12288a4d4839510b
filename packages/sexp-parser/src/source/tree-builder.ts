import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";
import { read } from "../read/reader.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import { listDatum, prefixDatum } from "./branch-datum.js";
import type { Features } from "./features.js";
import { Frame } from "./frame.js";
import type { Token } from "./token.js";
import type { SourceNode, SourceTree } from "./types.js";

/** Builds a tree from tokens, with a stack of frames instead of recursion. */
export class TreeBuilder {
  readonly #text: string;
  readonly #features: Features;
  #frame = new Frame("source", undefined, 0, "");

  constructor(text: string, features: Features) {
    this.#text = text;
    this.#features = features;
  }

  /** Adds the token at `start`, which is the end of the previous token. */
  add({ kind, end }: Token, start: number): void {
    const text = this.#text.slice(start, end);
    switch (kind) {
      case "open":
        this.#frame = new Frame("list", this.#frame, start, text);
        return;
      case "prefix":
      case "conditional":
        this.#frame = new Frame(kind, this.#frame, start, text);
        return;
      case "close":
        this.#close(start);
        return;
      case "atom":
        this.#push({ kind, start, end, text, datum: this.#readAtom(text, start) });
        return;
      case "dot":
        this.#dot(start);
        this.#frame.children.push({ kind, start, end, text });
        return;
      default:
        this.#frame.children.push({ kind, start, end, text });
    }
  }

  /** The tree, after the last token. */
  finish(): SourceTree {
    const { kind, start, open, children, data } = this.#frame;
    if (kind === "source") return { kind, start, end: this.#text.length, open, children, close: "", data };
    throw this.#error(kind === "list" ? "UNCLOSED_LIST" : "MISSING_DATUM", start);
  }

  #readAtom(text: string, start: number): Sexp {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof SexpError)) throw error;
      if (!this.#frame.isSkippable) throw this.#error(error.code, start + error.offset);
      return { kind: "opaque", text };
    }
  }

  #dot(start: number): void {
    const { kind, dot, data } = this.#frame;
    if (kind !== "list" || dot >= 0 || data.length === 0) this.#misplacedDot(start);
    else this.#frame.dot = data.length;
  }

  #close(start: number): void {
    const frame = this.#frame;
    if (frame.kind === "source") throw this.#error("UNEXPECTED_CLOSE", start);
    if (frame.kind !== "list") throw this.#error("MISSING_DATUM", frame.start);
    if (frame.dot === frame.data.length) this.#misplacedDot(start);
    this.#pop(frame.parent);
    this.#push(this.#listNode(frame, start + 1));
  }

  #listNode(frame: Frame, end: number): SourceNode {
    const { start, open, children } = frame;
    const datum = frame.isOpaque ? undefined : listDatum(frame);
    return { kind: "list", start, end, open, children, close: ")", datum: datum ?? this.#unfit(frame, end) };
  }

  /** Adds a node to the innermost branch, and ends the prefixes that it completes. */
  #push(node: SourceNode): void {
    let next: SourceNode | undefined = node;
    while (next !== undefined) {
      const frame = this.#frame;
      this.#take(frame, next);
      if (!frame.isComplete) return;
      this.#pop(frame.parent);
      next = frame.kind === "conditional" ? this.#conditionalNode(frame, next.end) : this.#prefixNode(frame, next.end);
    }
  }

  #take(frame: Frame, node: SourceNode): void {
    frame.children.push(node);
    if (node.kind === "conditional" && node.isIncluded === undefined) frame.hasUndecided = true;
    if (!("datum" in node) || node.datum === undefined) return;
    if (frame.dot >= 0 && frame.data.length > frame.dot) this.#misplacedDot(node.start);
    frame.data.push(node.datum);
    if (frame.kind === "conditional" && frame.data.length === 1) this.#decide(frame, node.datum);
  }

  #decide(frame: Frame, expression: Sexp): void {
    const holds = this.#features.hold(expression);
    if (holds !== undefined) frame.isIncluded = frame.open.endsWith("+") ? holds : !holds;
    if (frame.isIncluded !== true) frame.isSkippable = true;
  }

  #conditionalNode({ start, open, children, data, isIncluded }: Frame, end: number): SourceNode {
    const undecided: Sexp = { kind: "opaque", text: this.#text.slice(start, end) };
    const datum = isIncluded === undefined ? undecided : isIncluded ? data[1] : undefined;
    return { kind: "conditional", start, end, open, children, close: "", isIncluded, datum };
  }

  #prefixNode(frame: Frame, end: number): SourceNode {
    const { start, open, children, data } = frame;
    const datum = prefixDatum(open, data[0] ?? NIL, this.#text.slice(start, end));
    return { kind: "prefix", start, end, open, children, close: "", datum: datum ?? this.#unfit(frame, end) };
  }

  /** The opaque datum of a branch whose data do not fit its syntax; throws when that is an error. */
  #unfit(frame: Frame, end: number): Sexp {
    const isTolerated = frame.isTolerant || (frame.kind === "prefix" && frame.data.some(isComputed));
    if (!isTolerated) throw this.#error("INVALID_LITERAL", frame.start);
    return { kind: "opaque", text: this.#text.slice(frame.start, end) };
  }

  #misplacedDot(offset: number): void {
    if (!this.#frame.isTolerant) throw this.#error("MISPLACED_DOT", offset);
    this.#frame.isOpaque = true;
  }

  #pop(parent: Frame | undefined): void {
    if (parent !== undefined) this.#frame = parent;
  }

  #error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.#text, offset);
  }
}

/** Whether a datum stands for another one that only a Lisp knows, as `#.form` does, but not `#\name` or `#<...>`. */
function isComputed(datum: Sexp): boolean {
  return typeof datum === "object" && "kind" in datum && datum.kind === "opaque" && !/^#[\\<]/.test(datum.text);
}
