import {
  explain,
  isList,
  isSymbol,
  print,
  QUOTE,
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
 * @returns the code, for `eval`, `evaluate` and everything else that takes code.
 * @throws SwankError `INVALID_ARGUMENT` for a value that is no Lisp data, and for one in a string, a comment or quoted data.
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
 * @param name - As code writes it, in the current package: `my-app:run`, `(setf size)`.
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
  const code = texts.join(MARK);
  let start = 0;
  const holes = texts.slice(0, -1).map((text, index): Hole => {
    start += text.length + (index === 0 ? 0 : MARK.length);
    return { start, number: index + 1 };
  });
  const places = expressionPlaces(code);
  for (const hole of holes) {
    if (places.has(hole.start)) continue;
    throw new SwankError("INVALID_ARGUMENT", `Value ${hole.number} is no expression of the code.`, {
      remedy:
        "Put the value where code has an expression: not in a string, a comment, a symbol or quoted data. Build strings with format, and lists with list or backquote.",
    });
  }
}

/** The offsets of the marks that are expressions. */
function expressionPlaces(code: string): ReadonlySet<number> {
  const places = new Set<number>();
  const visit = (nodes: readonly SourceNode[], level: number) => {
    for (const node of nodes) {
      if (node.kind === "atom" && node.text === MARK && level === 0) places.add(node.start);
      else if ("children" in node) visit(node.children, levelIn(node, level));
    }
  };
  visit(treeOf(code).children, 0);
  return places;
}

/** The number of backquotes around the parts of a node, infinite inside a quote. Other prefixes than backquote and comma, such as `#'` and `#.`, take no expression. */
function levelIn({ kind, open, datum }: Exclude<SourceNode, { text: string }>, level: number): number {
  if (kind === "conditional") return level;
  if (open === "`") return level + 1;
  if (open.startsWith(",")) return level - 1;
  const isCode = open === "(" && !isQuoteForm(datum);
  // A backquoted form computes what it contains after commas, also after a quote.
  const isBuilt = level > 0 && (open === "(" || open === "'" || open === "#'");
  return isCode || isBuilt ? level : Number.POSITIVE_INFINITY;
}

function isQuoteForm(datum: unknown): boolean {
  if (!Array.isArray(datum)) return false;
  const head: unknown = datum[0];
  return head === QUOTE || (typeof head === "object" && head !== null && "name" in head && head.name === "QUOTE");
}

function treeOf(code: string) {
  try {
    return readWithPositions(code);
  } catch (error) {
    if (!(error instanceof SexpError)) throw error;
    throw new SwankError("INVALID_ARGUMENT", `The code cannot be read: ${explain(error, code)}`, { cause: error });
  }
}
