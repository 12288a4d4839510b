import { type Decoder, decode, list, NIL, quote, type Sexp, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { string } = decode;

/** A package that has become the current one. */
export interface CurrentPackage {
  readonly name: string;
  /** Its shortest name, for prompts. */
  readonly prompt: string;
}

export const currentPackage: Decoder<CurrentPackage> = decode.record({ name: string, prompt: string });

const text = (name: string) =>
  lispFunction({ name, encode: (source: string): readonly Sexp[] => [source], decode: string });

/** Lines and columns beyond which Swank cuts the text since 2.32: never, and with the right margin that printing has by default. */
const ECHO_AREA = quote([1_000_000, 90]);

const textForPeople = (name: string) => {
  const called = quote(symbol(name));
  const parameters = list(symbol("swank/backend:arglist"), called);
  return lispFunction({
    // Only since 2.32 the function takes, and needs, the size of Emacs's echo area.
    name: "cl:apply",
    label: () => name,
    encode: (source: string): readonly Sexp[] => [
      called,
      source,
      list(symbol("cl:and"), list(symbol("cl:rest"), parameters), ECHO_AREA),
    ],
    decode: string,
  });
};

/**
 * `(swank:interactive-eval "FORM")`: evaluates the first form. => a line for a person, e.g. `=> 7 (3 bits, #x7, #o7, #b111)`. Output goes
 * to the connection. Since 2.32 with the size of the echo area, here one that cuts nothing.
 */
export const interactiveEval = textForPeople("swank:interactive-eval");

/** `(swank:interactive-eval-region "FORMS")`: the same for all forms, with the values of the last one. */
export const interactiveEvalRegion = textForPeople("swank:interactive-eval-region");

/** `(swank:pprint-eval "FORM")`: evaluates the first form. => its output, followed by its values, pretty-printed. */
export const pprintEval = text("swank:pprint-eval");

/** `(swank:re-evaluate-defvar "(defvar ...)")`: makes the variable unbound and evaluates the form. => the printed name */
export const reEvaluateDefvar = text("swank:re-evaluate-defvar");

/** `(swank:value-for-editing "PLACE")`: the place's value, printed so that it can be read again. */
export const valueForEditing = text("swank:value-for-editing");

/** `(swank:commit-edited-value "PLACE" "VALUE")`: sets the place to the value of an expression. */
export const commitEditedValue = lispFunction({
  name: "swank:commit-edited-value",
  encode: (place: string, value: string) => [place, value],
  decode: decode.boolean,
});

/** `(swank:set-package "NAME")`: makes a package the current one. In a new thread that changes the global package, for all clients. */
export const setPackage = lispFunction({
  name: "swank:set-package",
  encode: (name: string) => [name],
  decode: currentPackage,
});

/** `(swank:load-file "PATH")`: loads a source or compiled file of the image's machine. => LOAD's printed value, `T` */
export const loadFile = text("swank:load-file");

/** `(swank:undefine-function "NAME")`: makes a function undefined. => its printed name. A name of another package than the current one needs its prefix. */
export const undefineFunction = text("swank:undefine-function");

/** `(swank:unintern-symbol "NAME" "PACKAGE")`: removes a symbol from its package. => a sentence about it */
export const uninternSymbol = lispFunction({
  name: "swank:unintern-symbol",
  encode: (name: string, packageName: string) => [name, packageName],
  decode: string,
});

/** `(swank:set-default-directory "FOLDER/")`: changes the image's current folder, for all clients. => the folder */
export const setDefaultDirectory = text("swank:set-default-directory");

/** `(swank:quit-lisp)`: ends the image. The reply is `:abort`, or none. */
export const quitLisp = lispFunction({
  name: "swank:quit-lisp",
  decode: () => undefined,
  unwound: () => undefined,
});

/** `(swank:update-indentation-information)`: has Swank send the indentation of all macros again, as `:indentation-update` events. */
export const updateIndentationInformation = lispFunction({
  name: "swank:update-indentation-information",
  decode: () => undefined,
});

const CONTRIB = "swank-repl";

/** `(swank-repl:create-repl nil)`: gives this connection a REPL thread. Swank then redirects the image's standard output to it. */
export const createRepl = lispFunction({
  name: "swank-repl:create-repl",
  contrib: CONTRIB,
  encode: () => [NIL],
  decode: currentPackage,
});

/**
 * `(swank-repl:listener-eval "FORMS")`: evaluates in the REPL thread, and sets `* ** *** / // /// + ++ +++ -`. The values come as
 * `:write-string` events with the target `:repl-result`.
 */
export const listenerEval = lispFunction({
  name: "swank-repl:listener-eval",
  contrib: CONTRIB,
  where: "repl-thread",
  encode: (source: string) => [source],
  decode: () => undefined,
});

/** `(swank-repl:clear-repl-variables)`: sets the REPL's history variables to nil. */
export const clearReplVariables = lispFunction({
  name: "swank-repl:clear-repl-variables",
  contrib: CONTRIB,
  where: "repl-thread",
  decode: () => undefined,
});

/** `(swank-repl:listener-get-value)`: writes the REPL's `*` as a result, a `:write-string` event. */
export const listenerGetValue = lispFunction({
  name: "swank-repl:listener-get-value",
  contrib: CONTRIB,
  where: "repl-thread",
  decode: () => undefined,
});

/** `(swank-repl:listener-save-value 'FUNCTION ARGUMENT ...)`: calls a function with texts, and keeps its value as the REPL's `*`. */
export const listenerSaveValue = lispFunction({
  name: "swank-repl:listener-save-value",
  contrib: CONTRIB,
  where: "repl-thread",
  encode: (functionName: string, ...args: readonly string[]) => [quote(symbol(functionName)), ...args],
  decode: () => undefined,
});

/** `(swank-repl:redirect-trace-output TARGET)`: sends `*trace-output*` to `:write-string` events with this target. */
export const redirectTraceOutput = lispFunction({
  name: "swank-repl:redirect-trace-output",
  contrib: CONTRIB,
  encode: (target: number) => [target],
  decode: () => undefined,
});

/** A REPL on a channel of Swank. */
export interface ChannelRepl extends CurrentPackage {
  /** Swank's channel, to which the client sends code. */
  readonly channel: number;
  /** Swank's id of its thread. */
  readonly thread: number;
}

const channelRepl: Decoder<ChannelRepl> = decode.record({
  channel: decode.integer,
  thread: decode.integer,
  name: string,
  prompt: string,
});

/**
 * `(swank-mrepl:create-mrepl CHANNEL)`: a REPL of its own thread. `channel` is the client's; messages `:channel-send` carry its results, and
 * the client sends `:emacs-channel-send` with `(:process "FORMS")` to the returned channel.
 */
export const createMrepl = lispFunction({
  name: "swank-mrepl:create-mrepl",
  contrib: "swank-mrepl",
  encode: (channel: number) => [channel],
  decode: channelRepl,
});
