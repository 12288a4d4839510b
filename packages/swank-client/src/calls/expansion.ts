import type { NamedKind } from "./found-names.js";
import type { PackageNotFound } from "./symbol-description.js";

/** How far macros are expanded: one step; until the form is no macro call; or also the macro calls inside. */
export const EXPANSION_MODES = ["once", "full", "all"] as const;

/** One of `EXPANSION_MODES`. */
export type ExpansionMode = (typeof EXPANSION_MODES)[number];

/** The operator of a form that has no expansion. */
export interface PlainOperator {
  readonly name: string;
  /** `undefined` if the operator is not defined. */
  readonly kind: NamedKind | undefined;
  /** If it is not defined: names that may be meant. */
  readonly similar: readonly string[];
}

/** The expansion of one form. */
export interface Expansion {
  /** Printed in lower case in the package; symbols of no package are numbered, so that they can be told apart. At most 40000 characters. */
  readonly text: string;
  /** False if there was nothing to expand. */
  readonly isExpanded: boolean;
  /** The operator of a form that was not expanded. */
  readonly operator: PlainOperator | undefined;
}

/** The expansions of forms, or the reason why there are none. */
export type Expansions =
  | { readonly status: "expanded"; readonly forms: readonly Expansion[] }
  /** The code could not be read. */
  | { readonly status: "unreadable"; readonly message: string }
  /** A macro signalled an error of this type. */
  | { readonly status: "failed"; readonly type: string; readonly message: string }
  | PackageNotFound;
