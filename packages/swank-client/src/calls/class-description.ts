import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { methodsCalled } from "./describe-name.js";
import { NAMED_KINDS, type NamedKind } from "./found-names.js";
import { type Reference, referenceFields } from "./found-references.js";
import type { MethodsCalled, NameNotFound } from "./symbol-description.js";

const { boolean, integer, list, map, nullable, plist, string, tuple } = decode;

/** A definition with its system. */
export interface LocatedDefinition extends Reference {
  /** The ASDF system whose file it is in. */
  readonly system: string | undefined;
}

/** A method with its place. */
export interface LocatedMethod extends LocatedDefinition {
  /** The classes on which it specializes that belong to another system. */
  readonly foreignClasses: readonly { readonly name: string; readonly system: string }[];
}

/** A slot of a class. */
export interface SlotDescription {
  readonly name: string;
  /** The class that it is inherited from. */
  readonly from: string | undefined;
  /** `undefined` if it is `t`. */
  readonly type: string | undefined;
  readonly initform: string | undefined;
  readonly initargs: readonly string[];
  readonly readers: readonly string[];
  readonly writers: readonly string[];
  /** True if all instances share it. */
  readonly isShared: boolean;
}

/** The program's methods, ordered by file and position. */
export interface MethodList {
  /** At most 100. */
  readonly methods: readonly LocatedMethod[];
  /** Number of all of the program's. */
  readonly count: number;
  /** Number of those that are Lisp's own. */
  readonly lispCount: number;
}

/** Names of classes, at most 100. */
export interface ClassNames {
  readonly names: readonly string[];
  /** Number of all. */
  readonly count: number;
}

/** A class. */
export interface ClassDescription {
  readonly kind: "class" | "structure" | "condition" | "built-in-class";
  readonly metaclass: string;
  readonly place: LocatedDefinition;
  /** Empty if superclasses are undefined. */
  readonly precedence: ClassNames;
  /** Of the class and all its superclasses, those that are not defined yet. */
  readonly undefinedClasses: ClassNames;
  /** The direct ones. */
  readonly superclasses: ClassNames;
  /** The direct ones. */
  readonly subclasses: ClassNames;
  /** Its own and the inherited ones, at most 100. A slot that several classes define has an entry for each. */
  readonly slots: readonly SlotDescription[];
  readonly slotCount: number;
  /** Those that specialize on the class itself, without accessors of its slots. */
  readonly methods: MethodList;
}

/** A generic function. */
export interface FunctionDescription {
  readonly name: string;
  readonly arglist: string | undefined;
  /** `undefined` for the standard method combination. */
  readonly combination: string | undefined;
  readonly place: LocatedDefinition;
  readonly methods: MethodList;
  /** The methods that a call with the given arguments runs. */
  readonly call: MethodsCalled | undefined;
}

/** The class and the generic function of a name. */
export interface FoundClass {
  readonly status: "found";
  /** As code in the package writes it. */
  readonly name: string;
  readonly class: ClassDescription | undefined;
  readonly function: FunctionDescription | undefined;
  /** What the name means. */
  readonly kinds: readonly NamedKind[];
  /** False if another thread held the compiler's lock, which ASDF may need to find the systems. */
  readonly areSystemsKnown: boolean;
}

/** What is known about a class or generic function, or the reason why the name was not found. */
export type ClassInfo = FoundClass | NameNotFound;

const located: Decoder<LocatedDefinition> = plist({ ...referenceFields, system: nullable(string) });

const foreignClass = map(tuple(string, string), ([name, system]) => ({ name, system }));

const method: Decoder<LocatedMethod> = map(
  plist({ ...referenceFields, system: nullable(string), on: list(foreignClass) }),
  ({ on, ...place }) => ({ ...place, foreignClasses: on }),
);

const methodList: Decoder<MethodList> = map(tuple(list(method), integer, integer), ([methods, count, lispCount]) => ({
  methods,
  count,
  lispCount,
}));

const classNames: Decoder<ClassNames> = map(tuple(list(string), integer), ([names, count]) => ({ names, count }));

const slot: Decoder<SlotDescription> = map(
  plist({
    name: string,
    from: nullable(string),
    type: nullable(string),
    initform: nullable(string),
    initargs: list(string),
    readers: list(string),
    writers: list(string),
    shared: boolean,
  }),
  ({ shared, ...fields }) => ({ ...fields, isShared: shared }),
);

const classDescription: Decoder<ClassDescription> = map(
  plist({
    kind: keywordOf(["class", "structure", "condition", "built-in-class"] as const),
    metaclass: string,
    place: located,
    precedence: classNames,
    undefined: classNames,
    superclasses: classNames,
    subclasses: classNames,
    slots: list(slot),
    "slot-count": integer,
    methods: methodList,
  }),
  ({ undefined: undefinedClasses, "slot-count": slotCount, ...fields }) => ({ ...fields, undefinedClasses, slotCount }),
);

const functionDescription: Decoder<FunctionDescription> = plist({
  name: string,
  arglist: nullable(string),
  combination: nullable(string),
  place: located,
  methods: methodList,
  call: nullable(methodsCalled),
});

/** `(NAME CLASS FUNCTION KINDS SYSTEMS-KNOWN-P)` (lisp/code/class-info.lisp). */
export const foundClass: Decoder<FoundClass> = map(
  tuple(string, nullable(classDescription), nullable(functionDescription), list(keywordOf(NAMED_KINDS)), boolean),
  ([name, described, generic, kinds, areSystemsKnown]) => ({
    status: "found",
    name,
    class: described,
    function: generic,
    kinds,
    areSystemsKnown,
  }),
);
