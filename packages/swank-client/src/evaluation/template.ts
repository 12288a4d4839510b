import {
  explain,
  isList,
  isSymbol,
  print,
  read,
  readWithPositions,
  type Sexp,
  SexpError,
  type SourceNode,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check } from "../base/options.js";
import { type DataValue, hasLoneSurrogate, toLisp } from "./data.js";

/**
 * Lisp code with JavaScript values in it: a tag for template literals.
 *
 * Each value becomes an expression that returns it as Lisp data, so it stands where code has an expression, and is not quoted. No value can
 * become code, whatever it holds, and the session's readtable and print settings do not change it. Backslashes stay as they are written, except
 * before a backquote and before a dollar sign.
 *
 * Only the syntax around a value is checked. A value where an operator expects no expression, such as a key of a CASE clause, is not refused.
 *
 * @returns the code, for `eval`, `evaluate` and everything else that takes code.
 * @throws SwankError `INVALID_ARGUMENT` for a value that is no Lisp data, and for one in a string, a comment, quoted data, a feature expression or
 * after the dot of a list.
 *
 * @example
 * await client.eval(lisp`(total ${["a", 1]} :rate ${0.2})`, { timeout: 5000 });
 */
export function lisp(template: TemplateStringsArray, ...values: readonly DataValue[]): string {
  const texts = template.raw.map((text) => text.replace(/\\([`$])/g, "$1"));
  checkPlaces(texts);
  const expressions = values.map((value, index) => dataExpression(value, `value ${index + 1}`));
  return texts.map((text, index) => text + (expressions[index] ?? "")).join("");
}

/**
 * Code that calls a function with JavaScript values.
 *
 * @param name - In the current package: `my-app:run`, `(setf size)`. It is read in standard syntax, not by the session's readtable.
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function callCode(name: string, args: readonly DataValue[]): string {
  if (!Array.isArray(args)) {
    throw new SwankError("INVALID_ARGUMENT", "args is the array of the function's arguments.", {
      remedy: 'Pass an array, as in client.call("my-app:run", [1, "x"]).',
    });
  }
  const expressions = args.map((value, index) => dataExpression(value, `argument ${index + 1}`));
  return `(|COMMON-LISP|:|FUNCALL| ${[functionExpression(name), ...expressions].join(" ")})`;
}

/** Reads a text in standard syntax when it is evaluated: only one string literal is read by the session's own readtable. */
function reading(text: string): string {
  return `(|COMMON-LISP|:|READ-FROM-STRING| ${print(text)})`;
}

function dataExpression(value: DataValue, name: string): string {
  const data = reading(print(toLisp(value, name)));
  return `(|COMMON-LISP|:|VALUES| (|COMMON-LISP|:|WITH-STANDARD-IO-SYNTAX| ${data}))`;
}

/** Bindings to read in standard syntax in the current package. `10.` is decimal whatever the session's base is. */
const STANDARD_SYNTAX =
  "((|COMMON-LISP|:|*READTABLE*| (|COMMON-LISP|:|COPY-READTABLE| ())) (|COMMON-LISP|:|*READ-BASE*| 10.))";

/** The function, or the symbol that names it, so that a macro is refused by Lisp. */
function functionExpression(name: string): string {
  const datum = functionName(name);
  const named = `(|COMMON-LISP|:|LET| ${STANDARD_SYNTAX} (|COMMON-LISP|:|VALUES| ${reading(print(datum))}))`;
  return isList(datum) ? `(|COMMON-LISP|:|FDEFINITION| ${named})` : named;
}

function functionName(name: string) {
  check.text("name", name);
  const datum = hasLoneSurrogate(name) ? undefined : readIfData(name);
  if (datum !== undefined && isSymbol(datum)) return datum;
  if (datum !== undefined && isList(datum) && isSetfName(datum)) return datum;
  throw new SwankError(
    "INVALID_ARGUMENT",
    `name is the name of a function, not ${JSON.stringify(name.slice(0, 80))}.`,
    {
      remedy: "Write it as in code: my-app:run or (setf size). To evaluate code, call eval.",
    },
  );
}

function isSetfName([head, name, ...others]: readonly Sexp[]): boolean {
  const isSetf = head !== undefined && isSymbol(head) && head.name === "SETF";
  return isSetf && name !== undefined && isSymbol(name) && others.length === 0;
}

function readIfData(text: string) {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof SexpError) return undefined;
    throw error;
  }
}

/** Stands for a value in the code whose places are checked. */
const MARK = "|value|";

/** The extent of a value in the code with marks. */
interface Hole {
  readonly start: number;
  readonly number: number;
}

/** Refuses a value that would be no expression of the code: there it would be other text, or data that no code computes. */
function checkPlaces(texts: readonly string[]): void {
  const values = texts.length - 1;
  // A space keeps adjacent marks apart. Expressions need none, because they are lists.
  const parts = texts.map((text, index) => (text === "" && index > 0 && index < values ? " " : text));
  let start = 0;
  const holes = parts.slice(0, -1).map((text, index): Hole => {
    start += text.length + (index === 0 ? 0 : MARK.length);
    return { start, number: index + 1 };
  });
  const places = expressionPlaces(parts.join(MARK));
  for (const hole of holes) {
    if (places.has(hole.start)) continue;
    throw new SwankError("INVALID_ARGUMENT", `Value ${hole.number} is no expression of the code.`, {
      remedy:
        "Put the value where code has an expression: not in a string, a comment, a symbol, quoted data, a feature expression or after a dot. Build strings with format, and lists with list or backquote.",
    });
  }
}

/** The offsets of the marks that are expressions. */
function expressionPlaces(code: string): ReadonlySet<number> {
  const places = new Set<number>();
  const visit = (node: SourceNode, level: number) => {
    if (node.kind === "atom" && node.text === MARK && level === 0) places.add(node.start);
    else if ("children" in node) visitChildren(node, level);
  };
  const visitChildren = (node: Branch, level: number) => {
    const inside = levelIn(node, level);
    const condition = node.kind === "conditional" ? node.children.find(isDatum) : undefined;
    let rest = inside;
    for (const child of node.children) {
      // In code, only a macro's own syntax has a dot.
      if (child.kind === "dot" && inside === 0) rest = NO_CODE;
      visit(child, child === condition || (inside === 0 && isFunctionPart(child, node)) ? NO_CODE : rest);
    }
  };
  for (const node of treeOf(code).children) visit(node, 0);
  return places;
}

type Branch = Exclude<SourceNode, { text: string }>;

/** The level of what no code computes. */
const NO_CODE = Number.POSITIVE_INFINITY;

function isDatum(node: SourceNode): boolean {
  return "datum" in node && node.datum !== undefined;
}

/** The number of backquotes around the parts of a node. Other prefixes than backquote, comma and `#'`, such as `#.`, take no expression. */
function levelIn({ kind, open, datum }: Branch, level: number): number {
  if (kind === "conditional") return level;
  if (open === "`") return level + 1;
  if (open.startsWith(",")) return level - 1;
  const isCode = open === "#'" || (open === "(" && !isFormOf("QUOTE", datum));
  // A backquoted form computes what it contains after commas, also after a quote and in a vector.
  const isBuilt = level > 0 && ["(", "'", "#("].includes(open);
  return isCode || isBuilt ? level : NO_CODE;
}

/** Whether a node is the name in `#'name` or `(function name)`. A lambda expression contains code. */
function isFunctionPart(node: SourceNode, around: Branch): boolean {
  const isIn = around.open === "#'" || (around.open === "(" && isFormOf("FUNCTION", around.datum));
  return isIn && !("children" in node && node.open === "(" && isLambda(node.datum));
}

function isLambda(datum: unknown): boolean {
  return isFormOf("LAMBDA", datum) || isFormOf("NAMED-LAMBDA", datum);
}

function isFormOf(operator: string, datum: unknown): boolean {
  if (!Array.isArray(datum)) return false;
  const head: unknown = datum[0];
  return typeof head === "object" && head !== null && "name" in head && head.name === operator;
}

function treeOf(code: string) {
  try {
    return readWithPositions(code);
  } catch (error) {
    if (!(error instanceof SexpError)) throw error;
    throw new SwankError("INVALID_ARGUMENT", `The code cannot be read: ${explain(error, code)}`, { cause: error });
  }
}
