import { type Decoded, type Decoder, decode, keyword, NIL, quote } from "sexp-parser";
import { check, type OptionsOf } from "../base/options.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import {
  CODE_TIME,
  definitionPlace,
  inPackage,
  LIMIT,
  type MethodsCalled,
  methodsCalled,
  NAMED_KINDS,
  type NameNotFound,
  nameNotFound,
  SHOWN_KINDS,
  TEXT_STATES,
} from "./found.js";

const { boolean, from, integer, list, nullable, plist, record, string, tagged } = decode;

/**
 * What to find.
 *
 * - `callers`, `callees`: functions that call the function, and functions that it calls.
 * - `references`, `bindings`, `assignments`: code that uses, binds or assigns the special variable.
 * - `macro-uses`: code in which the macro was expanded.
 * - `specializers`: methods that specialize on the class.
 * - `subclasses`: all classes that inherit from the class.
 */
export const REFERENCE_KINDS = [
  "callers",
  "callees",
  "references",
  "bindings",
  "assignments",
  "macro-uses",
  "specializers",
  "subclasses",
] as const;

/** One of `REFERENCE_KINDS`. */
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

const referenceOptions = {
  ...inPackage,
  /** Index of the first one, from 0. Default: 0. */
  start: check.index,
  /** Most references returned. Default: 50. */
  limit: check.index,
};

/** Which of the references to return. */
export interface ReferenceOptions extends OptionsOf<typeof referenceOptions> {}

/** The fields of `REFERENCE-ENTRY` (lisp/questions/references.lisp). */
export const referenceFields = {
  /** `code`: code outside of definitions. */
  kind: keywordOf([...SHOWN_KINDS, "code"]),
  /** As code in the package in which the name was looked up writes it. */
  name: string,
  /** What `head` is from. */
  state: keywordOf(TEXT_STATES),
  /** The first line of the form. */
  head: nullable(string),
  /** At most ten lines in which the form has the name, the first line of the form left out. */
  uses: list(integer),
  ...definitionPlace,
};

const reference = plist(referenceFields);

/** A definition that refers to a name, or that the name leads to. */
export interface Reference extends Decoded<typeof reference> {}

/**
 * Why there may be no references.
 *
 * - `interpreted`: functions of the package were evaluated in `:interpret` mode. `no-data`: no function of the package has cross references.
 * - `is-interpreted`: the function itself was evaluated in `:interpret` mode.
 * - `inline`, `constant-inlined`: the compiler may have put the function or value in its place.
 * - `constant`: it cannot be bound or assigned.
 * - the others: what the name is, or is not.
 */
export const NO_REFERENCES = [
  "interpreted",
  "no-data",
  "is-interpreted",
  "inline",
  "constant-inlined",
  "constant",
  "no-function",
  "function",
  "macro",
  "no-macro",
  "special-operator",
  "no-variable",
  "symbol-macro",
  "type",
  "no-class",
  "class",
  "variable",
] as const;

const noReferences = record({
  reason: keywordOf(NO_REFERENCES),
  /** For `interpreted` and `no-data`: the package, and the number of these functions in it. */
  package: nullable(string),
  functions: nullable(integer),
});

/** A reason why there may be no references. */
export interface NoReferences extends Decoded<typeof noReferences> {}

/** `(NAME (ENTRY ...) COUNT FILES LISP-COUNT (NAME ...) (REASON ...))` (lisp/questions/references.lisp). */
export const foundReferences = record(
  {
    /** As code in the package writes it. */
    name: string,
    /** Those of the page, ordered by file and position: files below the image's directory first, evaluated code last. */
    references: list<Reference>(reference),
    /** Number of all references except those of Lisp itself. */
    count: integer,
    /** Number of the files that these references are in. */
    files: integer,
    /** Number of references of SBCL, Swank and this library, and the names of some. */
    lispCount: integer,
    lispNames: list(string),
    /** Why there are none; empty if there are some, or if the reason is not known. */
    reasons: list<NoReferences>(noReferences),
  },
  { status: "found" },
);

/** What refers to a name. */
export interface FoundReferences extends Decoded<typeof foundReferences> {}

/** What refers to a name, or the reason why the name was not found. */
export type References = FoundReferences | NameNotFound;

/** What refers to a name in a package, by default the session's (lisp/questions/references.lisp). */
const findReferencesCall = lispFunction({
  name: "find-references",
  ability: "xref",
  module: "questions",
  encode: (name: string, kind: ReferenceKind, { package: packageName, start = 0, limit = LIMIT }: ReferenceOptions) =>
    forms(name, packageName, keyword(kind), start, limit),
  decode: tagged({ found: foundReferences, ...nameNotFound }),
  timeout: CODE_TIME,
  label: () => "finding references",
});

const checkKind = check.choice(REFERENCE_KINDS);

/** Asks for the definitions that refer to a name. */
export async function findReferences(
  lisp: LispRunner,
  name: string,
  kind: ReferenceKind,
  options: ReferenceOptions,
): Promise<References> {
  return questionsTo(lisp, "findReferences", options, referenceOptions).run(
    findReferencesCall,
    check.text("name", name),
    checkKind("kind", kind),
    options,
  );
}

const classOptions = {
  ...inPackage,
  /** Lisp sources of the arguments: literals, `'data`, variables, or names of classes for any instance. */
  args: check.texts,
};

/** The call whose methods are listed. */
export interface ClassOptions extends OptionsOf<typeof classOptions> {}

const located = {
  ...referenceFields,
  /** The ASDF system whose file it is in. */
  system: nullable(string),
};

const locatedDefinition = plist(located);

/** A definition with its system. */
export interface LocatedDefinition extends Decoded<typeof locatedDefinition> {}

const locatedMethod = plist({
  ...located,
  /** The classes on which it specializes that belong to another system. */
  foreignClasses: from("on", list(record({ name: string, system: string }))),
});

/** A method with its place. */
export interface LocatedMethod extends Decoded<typeof locatedMethod> {}

const slot = plist({
  name: string,
  /** The class that it is inherited from. */
  from: nullable(string),
  /** `undefined` if it is `t`. */
  type: nullable(string),
  initform: nullable(string),
  initargs: list(string),
  readers: list(string),
  writers: list(string),
  /** True if all instances share it. */
  isShared: from("shared", boolean),
});

/** A slot of a class. */
export interface SlotDescription extends Decoded<typeof slot> {}

const methodList = record({
  /** At most 100. */
  methods: list<LocatedMethod>(locatedMethod),
  /** Number of all of the program's. */
  count: integer,
  /** Number of those that are Lisp's own. */
  lispCount: integer,
});

/** The program's methods, ordered by file and position. */
export interface MethodList extends Decoded<typeof methodList> {}

const someClasses = record({
  names: list(string),
  /** Number of all. */
  count: integer,
});

/** Names of classes, at most 100. */
export interface ClassNames extends Decoded<typeof someClasses> {}

const classNames: Decoder<ClassNames> = someClasses;

const methods: Decoder<MethodList> = methodList;

const place: Decoder<LocatedDefinition> = locatedDefinition;

const classDescription = plist({
  kind: keywordOf(["class", "structure", "condition", "built-in-class"]),
  metaclass: string,
  place,
  /** Empty if superclasses are undefined. */
  precedence: classNames,
  /** Of the class and all its superclasses, those that are not defined yet. */
  undefinedClasses: from("undefined", classNames),
  /** The direct ones. */
  superclasses: classNames,
  /** The direct ones. */
  subclasses: classNames,
  /** Its own and the inherited ones, at most 100. A slot that several classes define has an entry for each. */
  slots: list<SlotDescription>(slot),
  slotCount: integer,
  /** Those that specialize on the class itself, without accessors of its slots. */
  methods,
});

/** A class. */
export interface ClassDescription extends Decoded<typeof classDescription> {}

const functionDescription = plist({
  name: string,
  arglist: nullable(string),
  /** `undefined` for the standard method combination. */
  combination: nullable(string),
  place,
  methods,
  /** The methods that a call with the given arguments runs. */
  call: nullable<MethodsCalled>(methodsCalled),
});

/** A generic function. */
export interface FunctionDescription extends Decoded<typeof functionDescription> {}

/** `(NAME CLASS FUNCTION KINDS SYSTEMS-KNOWN-P)` (lisp/questions/class-info.lisp). */
export const foundClass = record(
  {
    /** As code in the package writes it. */
    name: string,
    class: nullable<ClassDescription>(classDescription),
    function: nullable<FunctionDescription>(functionDescription),
    /** What the name means. */
    kinds: list(keywordOf(NAMED_KINDS)),
    /** False if another thread held the compiler's lock, which ASDF may need to find the systems. */
    areSystemsKnown: boolean,
  },
  { status: "found" },
);

/** The class and the generic function of a name. */
export interface FoundClass extends Decoded<typeof foundClass> {}

/** What is known about a class or generic function, or the reason why the name was not found. */
export type ClassInfo = FoundClass | NameNotFound;

/** The class and generic function of a name in a package, by default the session's (lisp/questions/class-info.lisp). */
const classInfoCall = lispFunction({
  name: "class-info",
  module: "questions",
  encode: (name: string, { package: packageName, args = [] }: ClassOptions) => [
    name,
    packageName ?? NIL,
    ...(args.length > 0 ? [quote(args)] : []),
  ],
  decode: tagged({ found: foundClass, ...nameNotFound }),
  timeout: CODE_TIME,
  label: () => "describing a class",
});

/** Asks what class and generic function a name means. */
export async function classInfo(lisp: LispRunner, name: string, options: ClassOptions): Promise<ClassInfo> {
  return questionsTo(lisp, "classInfo", options, classOptions).run(classInfoCall, check.text("name", name), options);
}
