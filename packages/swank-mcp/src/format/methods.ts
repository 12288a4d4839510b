import type { EffectiveMethod, FoundSymbol, Meaning, MethodsCalled } from "../image/lisp-port.js";
import { cutName, firstOf, more } from "../text/cut.js";

/** Most methods of one call, and characters of all arguments. */
const MAX_METHODS = 20;
const MAX_ARGUMENTS = 200;
const MAX_NAME = 300;

/** The methods that a call runs, in order. */
export function methodTexts(methods: readonly EffectiveMethod[]): string[] {
  const { shown, left } = firstOf(methods, MAX_METHODS);
  const texts = shown.map(({ name, isNext }) => `${cutName(name, MAX_NAME)}${isNext ? ", by call-next-method" : ""}`);
  return left > 0 ? [...texts, more(left, "method")] : texts;
}

/** Lines that list the methods that a call of the symbol's generic function with `args` runs. */
export function methodLines({ name, meanings }: FoundSymbol, args: readonly string[]): string[] {
  if (args.length === 0) return [];
  const called = meanings.flatMap((meaning) => callOf(meaning));
  const known = called.filter(({ call }) => call.kind === "methods");
  if (called.length === 0) return [`No methods: ${cutName(name)} is not a generic function.`];
  return (known.length > 0 ? known : called.slice(0, 1)).flatMap(({ function: operator, call }) =>
    callLines(cutName(operator), cutName(args.join(" "), MAX_ARGUMENTS), call),
  );
}

function callOf(meaning: Meaning): { readonly function: string; readonly call: MethodsCalled }[] {
  return "call" in meaning && meaning.call !== undefined ? [{ function: meaning.name, call: meaning.call }] : [];
}

/** Lines that list the methods that a call of `operator` with `args`, a text, runs. */
export function callLines(operator: string, args: string, call: MethodsCalled): string[] {
  if (call.kind === "unknown") return [`The methods that ${operator} runs are unknown: ${call.reason}`];
  if (call.methods.length === 0) return [`${operator} has no method for ${args}.`];
  return [
    `${operator} with arguments ${args} runs:`,
    ...methodTexts(call.methods).map((text, index) => `  ${index + 1}. ${text}`),
  ];
}
