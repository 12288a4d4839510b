import { type Decoded, decode, NIL, quote, symbol } from "sexp-parser";
import { lispFunction } from "../runtime/function.js";
import { call, callsWith, echoArea, nothing, oneNumber, oneText } from "./call.js";

const { boolean, integer, record, string } = decode;

const currentPackage = record({
  name: string,
  /** Its shortest name, for prompts. */
  prompt: string,
});

/** A package that has become the current one. */
export interface CurrentPackage extends Decoded<typeof currentPackage> {}

const grabbedOutput = record({
  stdout: string,
  /** All values, one per line; `""` for none. */
  values: string,
});

/** Output and values of an evaluation. */
export interface GrabbedOutput extends Decoded<typeof grabbedOutput> {}

/** Only since 2.32 these functions take, and need, the size of Emacs's echo area. */
function textForPeople(name: string) {
  const encode = (source: string) => [quote(symbol(name)), source, echoArea(name, 1)];
  return lispFunction({ name: "cl:apply", label: () => name, encode, decode: string });
}

/** Evaluating, and changing what a name means. */
export const evaluation = {
  /** `(swank:eval-and-grab-output "SOURCE")`: evaluates the first form of a source text. Works without the runtime. */
  evalAndGrabOutput: call<[source: string], GrabbedOutput>("swank:eval-and-grab-output", grabbedOutput, oneText),
  /**
   * `(swank:interactive-eval "FORM")`: evaluates the first form. => a line for a person, e.g. `=> 7 (3 bits, #x7, #o7, #b111)`. Output goes
   * to the connection. Since 2.32 with the size of the echo area, here one that cuts nothing.
   */
  interactiveEval: textForPeople("swank:interactive-eval"),
  /** `(swank:interactive-eval-region "FORMS")`: the same for all forms, with the values of the last one. */
  interactiveEvalRegion: textForPeople("swank:interactive-eval-region"),
  /** `(swank:pprint-eval "FORM")`: evaluates the first form. => its output, followed by its values, pretty-printed. */
  pprintEval: call("swank:pprint-eval", string, oneText),
  /** `(swank:re-evaluate-defvar "(defvar ...)")`: makes the variable unbound and evaluates the form. => the printed name */
  reEvaluateDefvar: call("swank:re-evaluate-defvar", string, oneText),
  /** `(swank:value-for-editing "PLACE")`: the place's value, printed so that it can be read again. */
  valueForEditing: call("swank:value-for-editing", string, oneText),
  /** `(swank:commit-edited-value "PLACE" "VALUE")`: sets the place to the value of an expression. */
  commitEditedValue: call("swank:commit-edited-value", boolean, (place: string, value: string) => [place, value]),
  /** `(swank:set-package "NAME")`: makes a package the current one. In a new thread that changes the global package, for all clients. */
  setPackage: call<[name: string], CurrentPackage>("swank:set-package", currentPackage, oneText),
  /** `(swank:load-file "PATH")`: loads a source or compiled file of the image's machine. => LOAD's printed value, `T` */
  loadFile: call("swank:load-file", string, oneText),
  /** `(swank:undefine-function "NAME")`: makes a function undefined. => its printed name. A name of another package than the current one needs its prefix. */
  undefineFunction: call("swank:undefine-function", string, oneText),
  /** `(swank:unintern-symbol "NAME" "PACKAGE")`: removes a symbol from its package. => a sentence about it */
  uninternSymbol: call("swank:unintern-symbol", string, (name: string, packageName: string) => [name, packageName]),
};

const IN_SESSION = "`client.evaluate` evaluates in a session with a package and history variables of its own.";

const ofRepl = callsWith({ contrib: "swank-repl", instead: IN_SESSION });
const inRepl = callsWith({ contrib: "swank-repl", where: "repl-thread", instead: IN_SESSION });

const channelRepl = record({
  /** Swank's channel, to which the client sends code. */
  channel: integer,
  /** Swank's id of its thread. */
  thread: integer,
  name: string,
  /** The shortest name of its package. */
  prompt: string,
});

/** A REPL on a channel of Swank. */
export interface ChannelRepl extends Decoded<typeof channelRepl> {}

/** Swank's REPLs. */
export const repl = {
  /** `(swank-repl:create-repl nil)`: gives this connection a REPL thread. Swank then redirects the image's standard output to it. */
  createRepl: ofRepl<[], CurrentPackage>("swank-repl:create-repl", currentPackage, () => [NIL]),
  /**
   * `(swank-repl:listener-eval "FORMS")`: evaluates in the REPL thread, and sets `* ** *** / // /// + ++ +++ -`. The values come as
   * `:write-string` events with the target `:repl-result`.
   */
  listenerEval: inRepl("swank-repl:listener-eval", nothing, oneText),
  /** `(swank-repl:clear-repl-variables)`: sets the REPL's history variables to nil. */
  clearReplVariables: inRepl("swank-repl:clear-repl-variables", nothing),
  /** `(swank-repl:listener-get-value)`: writes the REPL's `*` as a result, a `:write-string` event. */
  listenerGetValue: inRepl("swank-repl:listener-get-value", nothing),
  /** `(swank-repl:listener-save-value 'FUNCTION ARGUMENT ...)`: calls a function with texts, and keeps its value as the REPL's `*`. */
  listenerSaveValue: inRepl("swank-repl:listener-save-value", nothing, (name: string, ...args: readonly string[]) => [
    quote(symbol(name)),
    ...args,
  ]),
  /** `(swank-repl:redirect-trace-output TARGET)`: sends `*trace-output*` to `:write-string` events with this target. */
  redirectTraceOutput: ofRepl("swank-repl:redirect-trace-output", nothing, oneNumber),
  /**
   * `(swank-mrepl:create-mrepl CHANNEL)`: a REPL of its own thread. `channel` is the client's; messages `:channel-send` carry its results, and
   * the client sends `:emacs-channel-send` with `(:process "FORMS")` to the returned channel.
   */
  createMrepl: callsWith({ contrib: "swank-mrepl", instead: IN_SESSION })<[channel: number], ChannelRepl>(
    "swank-mrepl:create-mrepl",
    channelRepl,
    oneNumber,
  ),
};
