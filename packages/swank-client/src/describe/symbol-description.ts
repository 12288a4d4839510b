import type { QuestionOptions } from "../question-options.js";

/** Where a definition came from. */
export type DefinitionSource =
  | {
      readonly kind: "file";
      /** As the image names it; `SYS:...` for what belongs to the Lisp itself. */
      readonly file: string;
      /** Characters from the beginning of the file to the top-level form, as far as that is known. */
      readonly position: number | undefined;
      /** Line of that form, from 1; only for files that the image can read. */
      readonly line: number | undefined;
    }
  | {
      /** Code that a client has evaluated. */
      readonly kind: "evaluation";
      /** Name of the evaluation, e.g. `evaluation 7`. */
      readonly evaluation: string;
      /** Characters from the beginning of the evaluated code to the top-level form. */
      readonly position: number;
      /** Text of that form, cut after a few thousand characters. */
      readonly form: string;
    };

/** A value as it prints. */
export interface PrintedValue {
  /** Within limits, and `<error printing value>` if it cannot be printed. */
  readonly text: string;
  /** What the limits have cut, in words, e.g. `20 of 1000 elements shown`. */
  readonly leftOut: string | undefined;
}

/** What every meaning of a symbol has. */
interface Common {
  /** With its package, e.g. `COMMON-LISP::CAR` or `(SETF COMMON-LISP::CAR)`. */
  readonly name: string;
  readonly documentation: string | undefined;
  readonly source: DefinitionSource | undefined;
}

/** Something that is called, or stands where a call stands. */
export interface OperatorMeaning extends Common {
  readonly kind: "function" | "generic-function" | "macro" | "special-operator" | "setf-expander";
  /** Parameters as one would write them, without packages; `undefined` if they are not known. */
  readonly arglist: string | undefined;
  /** Of a generic function: how many methods it has. */
  readonly methods: number | undefined;
}

export interface ClassMeaning extends Common {
  readonly kind: "class" | "structure" | "condition" | "built-in-class";
  /** Names of the direct superclasses. */
  readonly superclasses: readonly string[];
  /** Names of its own slots. */
  readonly slots: readonly string[];
}

/** A type that is no class. */
export interface TypeMeaning extends Common {
  readonly kind: "type";
  readonly arglist: string | undefined;
  /** The type that it stands for, if it needs no arguments. */
  readonly expansion: string | undefined;
}

export interface VariableMeaning extends Common {
  readonly kind: "variable" | "constant" | "undeclared-variable";
  /** `undefined` if it is unbound. */
  readonly value: PrintedValue | undefined;
}

export interface SymbolMacroMeaning extends Common {
  readonly kind: "symbol-macro";
  readonly expansion: string;
}

export type Meaning = OperatorMeaning | ClassMeaning | TypeMeaning | VariableMeaning | SymbolMacroMeaning;

/** A symbol and all that it means. */
export interface FoundSymbol {
  readonly status: "found";
  /** With the package that it belongs to, e.g. `COMMON-LISP::CAR`, and bars round odd names. */
  readonly name: string;
  /** How the package that was asked knows it. */
  readonly access: "external" | "internal" | "inherited";
  /** Name of that package. */
  readonly package: string;
  /** What calls use comes first: operator, class, variable, type, setf function. Empty for a symbol that nothing is defined for. */
  readonly meanings: readonly Meaning[];
}

export type SymbolDescription =
  | FoundSymbol
  | {
      readonly status: "package-not-found";
      /** As it was looked for: in upper case, unless bars forbade that. */
      readonly package: string;
      /** Names of packages that have this in theirs. */
      readonly similar: readonly string[];
    }
  | {
      readonly status: "symbol-not-found";
      readonly name: string;
      readonly package: string;
      /** Symbols of that name in other packages, and in other case, as code would write them; the likeliest first. */
      readonly elsewhere: readonly string[];
      /** How many there are besides. */
      readonly more: number;
    };

/** Where to look. */
export interface DescribeOptions extends QuestionOptions {
  /** Name of the package that is asked, in any case. Default: `CL-USER`. A prefix of the symbol's name goes before it. */
  readonly package?: string | undefined;
}
