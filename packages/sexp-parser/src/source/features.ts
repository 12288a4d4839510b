import { isList, isSymbol } from "../syntax/kinds.js";
import { upcase } from "../text/chars.js";
import type { LispSymbol, Sexp } from "../types.js";

/** Decides feature expressions. The result `undefined` means that the features do not decide an expression. */
export class Features {
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
