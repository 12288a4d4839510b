import { type Decoded, type Decoder, decode, keyword, NIL, quote } from "sexp-parser";
import { check, type OptionsOf, question } from "../base/options.js";
import { cut } from "../evaluation/evaluate.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import {
  type BadPattern,
  badPattern,
  CODE_TIME,
  LIMIT,
  methodsCalled,
  NAMED_KINDS,
  type NameNotFound,
  nameNotFound,
  type PackageNotFound,
} from "./found.js";

const { integer, list, map, nullable, optional, plist, record, string, tagged, tupleRest } = decode;

const aproposOptions = {
  ...question,
  /** True if the pattern is a regular expression. Default: a part of the name. */
  regexp: check.flag,
  /** Name of the package to search. Default: all packages, except the keywords. */
  package: check.text,
  /** `function` includes generic functions, `class` structures and conditions, `variable` constants. Default: all kinds. */
  kind: check.choice(NAMED_KINDS),
  /** True for exported names only. Default: false. */
  external: check.flag,
  /** Most names returned. Default: 50. */
  limit: check.index,
};

/** Which names to look for. */
export interface AproposOptions extends OptionsOf<typeof aproposOptions> {}

const foundName = record({
  /** As code in another package writes it: `MY-APP:RUN` if it is exported, otherwise `MY-APP::RUN`. */
  name: string,
  package: string,
  access: keywordOf(["external", "internal"]),
  kinds: list(keywordOf(NAMED_KINDS)),
  /** The lambda list of an operator, at most 200 characters. */
  arglist: nullable(string),
  /** The first line of the documentation, at most 200 characters. */
  documentation: nullable(string),
});

/** A symbol that was found by its name. */
export interface FoundName extends Decoded<typeof foundName> {}

const foundNames = record(
  {
    names: list<FoundName>(foundName),
    /** Number of all symbols found, with those left out. */
    count: integer,
    /** Number of symbols left out, by package. */
    leftOut: list(record({ package: string, count: integer })),
    /** Number of further symbols with such a name that name nothing. */
    undefinedCount: integer,
    /** Number of further symbols that are of another kind, or are not exported. */
    filteredCount: integer,
    /** If no symbol has such a name: names that differ from the pattern in one or two characters. */
    similar: list(string),
  },
  { status: "found" },
);

/** Symbols that name something, sorted by package: the session's first, Lisp's own after `COMMON-LISP` last; exported names come first. */
export interface FoundNames extends Decoded<typeof foundNames> {}

/** The names that match a pattern, or the reason why none were searched. */
export type NamesFound = FoundNames | BadPattern | PackageNotFound;

/** Symbols whose names contain or match a pattern (lisp/questions/apropos.lisp). */
const aproposNames = lispFunction({
  name: "apropos-names",
  ability: "completion",
  module: "questions",
  encode: (pattern: string, { regexp, package: packageName, kind, external, limit = LIMIT }: AproposOptions) =>
    forms(pattern, regexp, packageName, kind && keyword(kind), external, limit),
  decode: tagged({ found: foundNames, ...badPattern, "package-not-found": nameNotFound["package-not-found"] }),
  timeout: CODE_TIME,
  label: () => "searching for names",
});

/** Searches the names of the image. */
export async function apropos(lisp: LispRunner, pattern: string, options: AproposOptions): Promise<NamesFound> {
  const isWhole = pattern === "" && options.package !== undefined;
  return questionsTo(lisp, "apropos", options, aproposOptions).run(
    aproposNames,
    isWhole ? pattern : check.text("pattern", pattern),
    options,
  );
}

/** `(:file FILE POSITION LINE)` or `(:evaluation NAME POSITION FORM)`. */
const source = tagged({
  file: record(
    {
      /** The image's name of the file; `SYS:...` for SBCL's own files. */
      file: string,
      /** Characters from the beginning of the file to the top-level form, if known. */
      position: nullable(integer),
      /** Line of that form, from 1; only for files that the image can read. */
      line: nullable(integer),
    },
    { kind: "file" },
  ),
  evaluation: record(
    {
      /** Name of the evaluation of a client, e.g. `evaluation 7`. */
      evaluation: string,
      /** Characters from the beginning of the evaluated code to the top-level form. */
      position: integer,
      /** Text of that form, truncated to a few thousand characters. */
      form: string,
    },
    { kind: "evaluation" },
  ),
});

/** Where a definition came from. */
export type DefinitionSource = Decoded<typeof source>;

const printedValue = record({
  /** Printed within limits; `<error printing value>` if it cannot be printed. */
  text: string,
  /** Why the text does not show everything; `undefined` if it does. */
  cut: nullable(cut),
});

/** A printed value. */
export interface PrintedValue extends Decoded<typeof printedValue> {}

const common = {
  /** With its package, e.g. `COMMON-LISP::CAR` or `(SETF COMMON-LISP::CAR)`. */
  name: string,
  documentation: nullable(string),
  source: nullable<DefinitionSource>(source),
};

const operatorFields = plist({
  ...common,
  /** The lambda list without package prefixes; `undefined` if it is not known. */
  arglist: nullable(string),
  /** Number of methods; only for generic functions. */
  methods: nullable(integer),
  /** What a call with the given arguments runs; absent without arguments, and for operators that are no generic functions. */
  call: optional(nullable(methodsCalled)),
});

/** A function, macro or other operator. */
export interface OperatorMeaning extends Decoded<typeof operatorFields> {
  readonly kind: "function" | "generic-function" | "macro" | "special-operator" | "setf-expander";
}

const classFields = plist({
  ...common,
  /** Names of the direct superclasses. */
  superclasses: list(string),
  /** Names of the direct slots. */
  slots: list(string),
});

/** A class, with its direct superclasses and slots. */
export interface ClassMeaning extends Decoded<typeof classFields> {
  readonly kind: "class" | "structure" | "condition" | "built-in-class";
}

const typeFields = plist({
  ...common,
  arglist: nullable(string),
  /** The type's expansion, if the type can be used without arguments. */
  expansion: nullable(string),
});

/** A type that is not a class. */
export interface TypeMeaning extends Decoded<typeof typeFields> {
  readonly kind: "type";
}

const variableFields = plist({
  ...common,
  /** `undefined` if it is unbound. */
  value: nullable<PrintedValue>(printedValue),
});

/** A global variable or constant. */
export interface VariableMeaning extends Decoded<typeof variableFields> {
  readonly kind: "variable" | "constant" | "undeclared-variable";
}

const symbolMacroFields = plist({ ...common, expansion: string });

/** A symbol macro. */
export interface SymbolMacroMeaning extends Decoded<typeof symbolMacroFields> {
  readonly kind: "symbol-macro";
}

/** One of the things that a symbol names. */
export type Meaning = OperatorMeaning | ClassMeaning | TypeMeaning | VariableMeaning | SymbolMacroMeaning;

function as<const Kind extends string, Fields extends object>(kind: Kind, fields: Decoder<Fields>) {
  return map(fields, (found) => ({ kind, ...found }));
}

/** `(KIND . PLIST)` (lisp/questions/describe.lisp). */
const meaning: Decoder<Meaning> = tagged({
  function: as("function", operatorFields),
  "generic-function": as("generic-function", operatorFields),
  macro: as("macro", operatorFields),
  "special-operator": as("special-operator", operatorFields),
  "setf-expander": as("setf-expander", operatorFields),
  class: as("class", classFields),
  structure: as("structure", classFields),
  condition: as("condition", classFields),
  "built-in-class": as("built-in-class", classFields),
  type: as("type", typeFields),
  variable: as("variable", variableFields),
  constant: as("constant", variableFields),
  "undeclared-variable": as("undeclared-variable", variableFields),
  "symbol-macro": as("symbol-macro", symbolMacroFields),
});

/** How the symbol is accessible in the package in which it was looked up. */
export const ACCESS = ["external", "internal", "inherited"] as const;

/** A symbol and all its meanings. */
export interface FoundSymbol {
  readonly status: "found";
  /** With its home package, e.g. `COMMON-LISP::CAR`, and with bars around names that need them. */
  readonly name: string;
  readonly access: (typeof ACCESS)[number];
  /** Name of the home package. */
  readonly package: string;
  /** In the order operator, class, variable, type, setf function. Empty if the symbol has no definition. */
  readonly meanings: readonly Meaning[];
}

/** The description of a symbol, or the reason why it was not found. */
export type SymbolDescription = FoundSymbol | NameNotFound;

/** The reply of `describe-name` (lisp/questions/describe.lisp). */
const symbolDescription: Decoder<SymbolDescription> = tagged({
  found: map(
    tupleRest([string, keywordOf(ACCESS), string], list(meaning)),
    ([name, access, packageName, meanings]): FoundSymbol => ({
      status: "found",
      name,
      access,
      package: packageName,
      meanings,
    }),
  ),
  ...nameNotFound,
});

const describeOptions = {
  ...question,
  /** Name of the package to look in, in upper or lower case. Default: `CL-USER`. A package prefix in the symbol's name overrides it. */
  package: check.text,
  /**
   * Arguments of a call, for which the methods of a generic function are listed. Nothing is evaluated: each is a literal, quoted data, a
   * variable, `(swank-objects:ref N)`, or the name of a class for any direct instance. Read in `package`, by default the session's.
   */
  args: check.texts,
};

/** Options for describing a symbol. */
export interface DescribeOptions extends OptionsOf<typeof describeOptions> {}

/** Milliseconds that the image has to answer; describing may call the user's methods. */
const ANSWER_TIME = 30_000;

/**
 * Describes everything a symbol names (lisp/questions/describe.lisp). Looks the name up in the package, `CL-USER` by default, and lists the methods
 * that calls of generic functions with `args` run.
 */
const describeName = lispFunction({
  name: "describe-name",
  ability: "describe",
  module: "questions",
  encode: (name: string, { package: packageName, args = [] }: DescribeOptions) => [
    name,
    packageName ?? NIL,
    ...(args.length > 0 ? [quote(args)] : []),
  ],
  decode: symbolDescription,
  timeout: ANSWER_TIME,
  label: () => "describing a symbol",
});

/** Asks what a symbol names. */
export async function describeSymbol(
  lisp: LispRunner,
  name: string,
  options: DescribeOptions,
): Promise<SymbolDescription> {
  return questionsTo(lisp, "describeSymbol", options, describeOptions).run(
    describeName,
    check.text("name", name),
    options,
  );
}
