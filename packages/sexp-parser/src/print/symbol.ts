import { PrintError } from "../errors.js";
import { isPotentialNumber } from "../syntax/number.js";
import type { LispSymbol } from "../types.js";

/** Names of these chars read back in either case, unless they look like a number or consist of dots. */
const PLAIN = /^[A-Z0-9!$%&*+\-./<=>?@^_~{}[\]]+$/;

/** Texts of interned symbols, which are frozen. The regular expressions take most of the time of printing a short message. */
const texts = new WeakMap<LispSymbol, string>();

/** The text of a symbol: in lower case when this reads back as the same name, otherwise between bars. */
export function printSymbol(symbol: LispSymbol): string {
  const known = texts.get(symbol);
  if (known !== undefined) return known;
  const text = textOf(symbol);
  if (Object.isFrozen(symbol)) texts.set(symbol, text);
  return text;
}

function textOf({ name, package: packageName, internal }: LispSymbol): string {
  if (packageName === undefined) return printName(name);
  if (packageName === "KEYWORD") return `:${printName(name)}`;
  if (packageName === "") return `#:${printName(name)}`;
  return `${printName(packageName)}${internal ? "::" : ":"}${printName(name)}`;
}

function printName(name: string): string {
  if (typeof name !== "string") throw new PrintError(`A symbol with the name or package ${String(name)}`);
  const isPlain = PLAIN.test(name) && !isPotentialNumber(name) && !/^\.+$/.test(name);
  return isPlain ? name.toLowerCase() : `|${name.replace(/[\\|]/g, "\\$&")}|`;
}
