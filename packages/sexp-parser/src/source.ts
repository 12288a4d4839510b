import { dotted, isList, isSymbol, NIL } from "./data.js";
import { type ReadErrorCode, SexpError } from "./errors.js";
import { Char, CharClass, classAt, codeAt, dispatchAt, Kind, Lexer, type TokenKind, upcase } from "./lexer.js";
import { LITERALS, QUOTES, read } from "./read.js";
import type { LispSymbol, Sexp } from "./types.js";

/** The extent of a node: `text.slice(start, end)`, in UTF-16 code units from 0. */
interface Span {
  readonly start: number;
  /** The offset after the last char. */
  readonly end: number;
}

/** Text between data: a run of whitespace, a `;` comment without its newline, or a `#| |#` comment. */
export interface SourceBlank extends Span {
  readonly kind: "whitespace" | "line-comment" | "block-comment";
  readonly text: string;
}

/** A datum without data in it: a symbol, number, string, character, bit vector or label reference. */
export interface SourceAtom extends Span {
  readonly kind: "atom";
  readonly text: string;
  readonly datum: Sexp;
}

/** The dot before the last datum of a dotted list. */
export interface SourceDot extends Span {
  readonly kind: "dot";
  readonly text: string;
}

interface Branch extends Span {
  /** The chars before the children, such as `(`, `#3(`, `'` or `#+`. */
  readonly open: string;
  /** Everything inside in the order of the text, without gaps. */
  readonly children: readonly SourceNode[];
  /** The chars after the children: `)` or nothing. */
  readonly close: string;
}

/** A list `(...)` or a vector `#(...)`. */
export interface SourceList extends Branch {
  readonly kind: "list";
  readonly datum: Sexp;
}

/**
 * A syntax that applies to the next datum, such as `'x`, `,@x`, `#'x`, `#S(...)`, `#.x` or `#1=x`.
 *
 * An unknown `#` syntax counts as such a prefix and has an opaque datum.
 */
export interface SourcePrefix extends Branch {
  readonly kind: "prefix";
  readonly datum: Sexp;
}

/** `#+feature form` or `#-feature form`. */
export interface SourceConditional extends Branch {
  readonly kind: "conditional";
  /** Whether Lisp reads the form; `undefined` when the given features do not decide it. */
  readonly isIncluded: boolean | undefined;
  /** The form's datum when it is included, nothing when it is excluded, the opaque text when that is undecided. */
  readonly datum: Sexp | undefined;
}

/** A node of a concrete syntax tree. */
export type SourceNode = SourceBlank | SourceAtom | SourceDot | SourceList | SourcePrefix | SourceConditional;

/** The concrete syntax tree of a whole text. */
export interface SourceTree extends Branch {
  readonly kind: "source";
  /** The top-level data that Lisp reads. */
  readonly data: readonly Sexp[];
}

/** Options of {@link readWithPositions}. */
export interface SourceOptions {
  /**
   * The features of the Lisp that decide `#+` and `#-`, such as `["sbcl", "x86-64"]`, in any case. Default: unknown; a
   * conditional then stays opaque, unless its expression holds or fails with any features, as `#+(or)` does.
   */
  readonly features?: Iterable<string> | undefined;
}

/**
 * Reads source text into a concrete syntax tree: all data, comments and blanks, each with its start and end.
 *
 * `printSource` turns the tree back into exactly the text. What only a Lisp can read (`#.form`, labels, unknown `#`
 * syntaxes, undecided conditionals) becomes opaque data; its parts are still in the tree. Inside excluded and undecided
 * conditionals, atoms and literals that this reader refuses become opaque, too. Takes linear time, at any depth.
 *
 * @throws {SexpError} with the code of what is wrong in the text
 */
export function readWithPositions(text: string, options: SourceOptions = {}): SourceTree {
  const builder = new TreeBuilder(text, new Features(options.features));
  const lexer = new Lexer(text);
  for (let kind = lexer.next(); kind !== Kind.end; kind = lexer.next()) builder.add(kind, lexer);
  return builder.finish();
}

/** Builds a tree from tokens, with a stack of frames instead of recursion. */
class TreeBuilder {
  readonly #text: string;
  readonly #features: Features;
  #frame = new Frame("source", undefined, 0, "");

  constructor(text: string, features: Features) {
    this.#text = text;
    this.#features = features;
  }

  /** Adds the lexer's token, which begins at the end of the previous one. */
  add(kind: Exclude<TokenKind, typeof Kind.end>, lexer: Lexer): void {
    const { start } = lexer;
    if (kind === Kind.sharp && codeAt(this.#text, start + 1) === Char.less) lexer.extendUnreadable();
    if (lexer.unclosed !== undefined) throw this.#error(lexer.unclosed, start);
    const { end } = lexer;
    const text = this.#text.slice(start, end);
    switch (kind) {
      case Kind.open:
        this.#frame = new Frame("list", this.#frame, start, text);
        return;
      case Kind.prefix:
        this.#checkPrefix(start, end);
        this.#frame = new Frame("prefix", this.#frame, start, text);
        return;
      case Kind.package:
        this.#frame = new Frame("prefix", this.#frame, start, text);
        return;
      case Kind.conditional:
        this.#frame = new Frame("conditional", this.#frame, start, text);
        return;
      case Kind.close:
        this.#close(start);
        return;
      case Kind.string:
      case Kind.token:
      case Kind.sharp:
        this.#push({ kind: "atom", start, end, text, datum: this.#readAtom(text, start) });
        return;
      case Kind.dot:
        this.#dot(start);
        this.#frame.children.push({ kind: "dot", start, end, text });
        return;
      case Kind.whitespace:
        this.#frame.children.push({ kind: "whitespace", start, end, text });
        return;
      case Kind.lineComment:
        this.#frame.children.push({ kind: "line-comment", start, end, text });
        return;
      case Kind.blockComment:
        this.#frame.children.push({ kind: "block-comment", start, end, text });
    }
  }

  #checkPrefix(start: number, end: number): void {
    if (end > this.#text.length) throw this.#error("MISSING_DATUM", start);
    // CLHS 2.4.8.21: # before whitespace or a closing parenthesis is an error in every readtable.
    const isInvalid =
      classAt(this.#text, end - 1) === CharClass.whitespace || this.#text.charCodeAt(end - 1) === Char.close;
    if (isInvalid) throw this.#error("UNKNOWN_DISPATCH", start);
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

/** A branch of the tree that is still open, or the text itself, which has no parent. */
class Frame {
  readonly kind: "source" | "list" | "prefix" | "conditional";
  readonly parent: Frame | undefined;
  readonly start: number;
  readonly open: string;
  readonly children: SourceNode[] = [];
  /** The data of `children`, without those of excluded conditionals. */
  readonly data: Sexp[] = [];
  /** The number of data before the dot; -1 without a dot. */
  dot = -1;
  /** Whether Lisp may skip the branch, so that errors in it give opaque data. Branches inside inherit it. */
  isSkippable: boolean;
  /** Whether Lisp may skip a child, so that the number of data is unknown. */
  hasUndecided = false;
  /** Whether an error was tolerated, which makes the datum opaque. */
  isOpaque = false;
  /** Only for conditionals, once their expression is read. */
  isIncluded: boolean | undefined;

  constructor(kind: Frame["kind"], parent: Frame | undefined, start: number, open: string) {
    this.kind = kind;
    this.parent = parent;
    this.start = start;
    this.open = open;
    this.isSkippable = parent?.isSkippable ?? false;
  }

  /** Whether the branch ends with its last datum. Lists end with a parenthesis instead. */
  get isComplete(): boolean {
    const { kind, data } = this;
    return (kind === "prefix" && data.length === 1) || (kind === "conditional" && data.length === 2);
  }

  /** Whether an error directly in this branch makes its datum opaque. */
  get isTolerant(): boolean {
    return this.isSkippable || this.hasUndecided;
  }
}

/** The datum of a list or vector; `undefined` when a vector has more elements than its length says. */
function listDatum({ open, data, dot }: Frame): Sexp | undefined {
  const list = dot < 0 ? dotted(data, NIL) : dotted(data.slice(0, dot), data[dot] ?? NIL);
  return open === "(" ? list : LITERALS.get("(")?.(list, dispatchAt(open, 0).argument);
}

/** The datum of the prefix `open` with `datum` after it; `undefined` when the two do not fit. */
function prefixDatum(open: string, datum: Sexp, text: string): Sexp | undefined {
  const quoted = QUOTES.get(open);
  if (quoted !== undefined) return quoted(datum);
  const { char, argument } = dispatchAt(open, 0);
  const literal = open.startsWith("#") ? LITERALS.get(char) : undefined;
  return literal === undefined ? { kind: "opaque", text } : literal(datum, argument);
}

/** Decides feature expressions. The result `undefined` means that the features do not decide an expression. */
class Features {
  readonly #names: ReadonlySet<string> | undefined;

  /** @param names - Names without colons, in any case; without them no single feature is known. */
  constructor(names: Iterable<string> | undefined) {
    this.#names = names === undefined ? undefined : new Set([...names].map(upcase));
  }

  /**
   * Whether a feature expression (CLHS 24.1.2.1) holds: a symbol, or `and`, `or`, `not` of expressions.
   *
   * An undecided operand matters only when the others do not decide the result. Beyond a depth of 100 an expression counts
   * as undecided.
   */
  hold(expression: Sexp, depth = 0): boolean | undefined {
    if (isSymbol(expression)) return this.#has(expression);
    if (!isList(expression) || depth > MAX_DEPTH) return undefined;
    const [operator, ...operands] = expression;
    const name = operator !== undefined && isSymbol(operator) ? operator.name : "";
    const values = operands.map((operand) => this.hold(operand, depth + 1));
    return OPERATORS.get(name)?.(values);
  }

  /** Lisp reads feature expressions in the keyword package, so a name without a package is a keyword. */
  #has({ name, package: packageName }: LispSymbol): boolean | undefined {
    if (this.#names === undefined) return undefined;
    return (packageName === undefined || packageName === "KEYWORD") && this.#names.has(name);
  }
}

const MAX_DEPTH = 100;

type Truth = boolean | undefined;

const OPERATORS = new Map<string, (values: readonly Truth[]) => Truth>([
  ["AND", (values) => unless(false, values)],
  ["OR", (values) => unless(true, values)],
  ["NOT", ([value, ...others]) => (value === undefined || others.length > 0 ? undefined : !value)],
]);

/** `decisive` when one of the values is it, otherwise its opposite, unless a value is undecided. */
function unless(decisive: boolean, values: readonly Truth[]): Truth {
  if (values.includes(decisive)) return decisive;
  return values.includes(undefined) ? undefined : !decisive;
}

/** A node that stands for a datum. */
export type SourceDatum = SourceAtom | SourceList | SourcePrefix | SourceConditional;

/**
 * The nodes of the data directly inside a tree or node, in the order of the text.
 *
 * Blanks, dots and excluded conditionals are left out; an included conditional is replaced by its form.
 */
export function elements(source: SourceTree | SourceNode): readonly SourceDatum[] {
  if (!("children" in source)) return [];
  return source.children.flatMap((child) => dataNode(child) ?? []);
}

function dataNode(node: SourceNode): SourceDatum | undefined {
  let current = isDatum(node) ? node : undefined;
  while (current?.kind === "conditional" && current.isIncluded === true) current = formOf(current);
  return current;
}

/** The last datum inside a conditional; excluded conditionals may stand before it. */
function formOf({ children }: SourceConditional): SourceDatum | undefined {
  return children.filter(isDatum).at(-1);
}

function isDatum(node: SourceNode): node is SourceDatum {
  return "datum" in node && node.datum !== undefined;
}

/** The text of a tree or node, exactly as read. Only the nodes matter, so changed copies of a tree print, too. */
export function printSource(source: SourceTree | SourceNode): string {
  const waiting: (SourceTree | SourceNode | string)[] = [source];
  let text = "";
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") text += next;
    else if ("text" in next) text += next.text;
    else {
      text += next.open;
      waiting.push(next.close);
      for (let index = next.children.length - 1; index >= 0; index--) waiting.push(next.children[index] ?? "");
    }
  }
  return text;
}
