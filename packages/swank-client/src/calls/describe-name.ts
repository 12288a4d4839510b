import { type Decoder, decode, NIL, quote } from "sexp-parser";
import { checkTexts } from "../base/check-arguments.js";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { effectiveMethods } from "./condition.js";
import { cut } from "./evaluate.js";
import { nameNotFound } from "./name-not-found.js";
import {
  ACCESS,
  type ClassMeaning,
  type DefinitionSource,
  type Meaning,
  type MethodsCalled,
  type OperatorMeaning,
  type PrintedValue,
  type SymbolDescription,
  type VariableMeaning,
} from "./symbol-description.js";

/** Milliseconds that the image has to answer; describing may call the user's methods. */
const ANSWER_TIME = 30_000;

const { integer, list, map, nullable, optional, plist, string, tagged, tuple, tupleRest } = decode;

/** `(:file FILE POSITION LINE)` or `(:evaluation NAME POSITION FORM)`. */
const source: Decoder<DefinitionSource> = tagged({
  file: map(
    tuple(string, nullable(integer), nullable(integer)),
    ([file, position, line]): DefinitionSource => ({ kind: "file", file, position, line }),
  ),
  evaluation: map(
    tuple(string, integer, string),
    ([evaluation, position, form]): DefinitionSource => ({ kind: "evaluation", evaluation, position, form }),
  ),
});

const value: Decoder<PrintedValue> = map(tuple(string, nullable(cut)), ([text, by]) => ({ text, cut: by }));

const common = { name: string, documentation: nullable(string), source: nullable(source) };

/** `(:methods ENTRIES)` or `(:unknown REASON)` (lisp/describe/calls.lisp). */
export const methodsCalled: Decoder<MethodsCalled> = tagged({
  methods: map(tuple(effectiveMethods), ([methods]): MethodsCalled => ({ kind: "methods", methods })),
  unknown: map(tuple(string), ([reason]): MethodsCalled => ({ kind: "unknown", reason })),
});

const operatorFields = plist({
  ...common,
  arglist: nullable(string),
  methods: nullable(integer),
  call: optional(nullable(methodsCalled)),
});
const classFields = plist({ ...common, superclasses: list(string), slots: list(string) });
const typeFields = plist({ ...common, arglist: nullable(string), expansion: nullable(string) });
const variableFields = plist({ ...common, value: nullable(value) });
const symbolMacroFields = plist({ ...common, expansion: string });

function operator(kind: OperatorMeaning["kind"]): Decoder<Meaning> {
  return map(operatorFields, (fields) => ({ kind, ...fields }));
}

function classOf(kind: ClassMeaning["kind"]): Decoder<Meaning> {
  return map(classFields, (fields) => ({ kind, ...fields }));
}

function variable(kind: VariableMeaning["kind"]): Decoder<Meaning> {
  return map(variableFields, (fields) => ({ kind, ...fields }));
}

/** `(KIND . PLIST)` (lisp/describe/describe.lisp). */
const meaning: Decoder<Meaning> = tagged({
  function: operator("function"),
  "generic-function": operator("generic-function"),
  macro: operator("macro"),
  "special-operator": operator("special-operator"),
  "setf-expander": operator("setf-expander"),
  class: classOf("class"),
  structure: classOf("structure"),
  condition: classOf("condition"),
  "built-in-class": classOf("built-in-class"),
  type: map(typeFields, (fields): Meaning => ({ kind: "type", ...fields })),
  variable: variable("variable"),
  constant: variable("constant"),
  "undeclared-variable": variable("undeclared-variable"),
  "symbol-macro": map(symbolMacroFields, (fields): Meaning => ({ kind: "symbol-macro", ...fields })),
});

/** The reply of `describe-name` (lisp/describe/describe.lisp). */
const symbolDescription: Decoder<SymbolDescription> = tagged({
  found: map(
    tupleRest([string, keywordOf(ACCESS), string], list(meaning)),
    ([name, access, packageName, meanings]): SymbolDescription => ({
      status: "found",
      name,
      access,
      package: packageName,
      meanings,
    }),
  ),
  ...nameNotFound,
});

/**
 * Describes everything a symbol names (lisp/describe/describe.lisp). Looks the name up in `packageName`, `CL-USER` by default, and lists the
 * methods that calls of generic functions with `args` run.
 */
export const describeName = lispFunction({
  name: "describe-name",
  module: "describe",
  encode: (name: string, packageName: string | undefined, args: readonly string[]) => {
    checkTexts("args", args);
    return [name, packageName ?? NIL, ...(args.length > 0 ? [quote(args)] : [])];
  },
  decode: symbolDescription,
  timeout: ANSWER_TIME,
  label: () => "describing a symbol",
});
