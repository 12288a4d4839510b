import type { EffectiveMethod } from "./condition.js";
import type { Cut } from "./evaluate.js";

/** Where a definition came from. */
export type DefinitionSource =
  | {
      readonly kind: "file";
      /** The image's name of the file; `SYS:...` for SBCL's own files. */
      readonly file: string;
      /** Characters from the beginning of the file to the top-level form, if known. */
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
      /** Text of that form, truncated to a few thousand characters. */
      readonly form: string;
    };

/** A printed value. */
export interface PrintedValue {
  /** Printed within limits; `<error printing value>` if it cannot be printed. */
  readonly text: string;
  /** Why the text does not show everything; `undefined` if it does. */
  readonly cut: Cut | undefined;
}

/** Fields of every meaning of a symbol. */
interface Common {
  /** With its package, e.g. `COMMON-LISP::CAR` or `(SETF COMMON-LISP::CAR)`. */
  readonly name: string;
  readonly documentation: string | undefined;
  readonly source: DefinitionSource | undefined;
}

/** The methods that a call of a generic function runs, in order, or the reason why they are unknown. */
export type MethodsCalled =
  | { readonly kind: "methods"; readonly methods: readonly EffectiveMethod[] }
  | { readonly kind: "unknown"; readonly reason: string };

/** A function, macro or other operator. */
export interface OperatorMeaning extends Common {
  readonly kind: "function" | "generic-function" | "macro" | "special-operator" | "setf-expander";
  /** The lambda list without package prefixes; `undefined` if it is not known. */
  readonly arglist: string | undefined;
  /** Number of methods; only for generic functions. */
  readonly methods: number | undefined;
  /** What a call with the given arguments runs; absent without arguments, `undefined` for operators that are no generic functions. */
  readonly call?: MethodsCalled | undefined;
}

/** A class, with its direct superclasses and slots. */
export interface ClassMeaning extends Common {
  readonly kind: "class" | "structure" | "condition" | "built-in-class";
  /** Names of the direct superclasses. */
  readonly superclasses: readonly string[];
  /** Names of the direct slots. */
  readonly slots: readonly string[];
}

/** A type that is not a class. */
export interface TypeMeaning extends Common {
  readonly kind: "type";
  readonly arglist: string | undefined;
  /** The type's expansion, if the type can be used without arguments. */
  readonly expansion: string | undefined;
}

/** A global variable or constant. */
export interface VariableMeaning extends Common {
  readonly kind: "variable" | "constant" | "undeclared-variable";
  /** `undefined` if it is unbound. */
  readonly value: PrintedValue | undefined;
}

/** A symbol macro. */
export interface SymbolMacroMeaning extends Common {
  readonly kind: "symbol-macro";
  readonly expansion: string;
}

/** One of the things that a symbol names. */
export type Meaning = OperatorMeaning | ClassMeaning | TypeMeaning | VariableMeaning | SymbolMacroMeaning;

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

/** There is no such package. */
export interface PackageNotFound {
  readonly status: "package-not-found";
  /** The name that was looked up: in upper case, unless it was written with bars. */
  readonly package: string;
  /** Names of packages whose name or a nickname is similar. */
  readonly similar: readonly string[];
  /** What is wrong with an invisible or look-alike character in the name, and what to write instead. */
  readonly oddCharacter?: string;
}

/** The package has no such symbol. */
export interface SymbolNotFound {
  readonly status: "symbol-not-found";
  readonly name: string;
  readonly package: string;
  /** Symbols with that name in other packages or in other case, as code writes them; the likeliest first. */
  readonly elsewhere: readonly string[];
  /** Number of further symbols that are not listed. */
  readonly more: number;
  /** What is wrong with an invisible or look-alike character in the name, and what to write instead. */
  readonly oddCharacter?: string;
}

/** Why a name means nothing. */
export type NameNotFound = PackageNotFound | SymbolNotFound;

/** The description of a symbol, or the reason why it was not found. */
export type SymbolDescription = FoundSymbol | NameNotFound;
