import { type Decoder, decode, list, NIL, quote, type Sexp, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { featureName } from "../protocol/wire/message-decoders.js";

/** Swank's description of its image. */
export interface ConnectionInfo {
  /** Process id on the image's machine; `undefined` where Lisp does not know it. */
  readonly pid: number | undefined;
  /** Communication style in lower case: `spawn` serves each request in its own thread. `undefined` for `nil`, which has no threads. */
  readonly style: string | undefined;
  readonly implementation: {
    /** E.g. `SBCL`. */
    readonly type: string;
    /** E.g. `sbcl`. */
    readonly name: string;
    readonly version: string;
    /** The executable, where Lisp knows it. */
    readonly program: string | undefined;
  };
  readonly machine: {
    readonly instance: string | undefined;
    readonly type: string | undefined;
    readonly version: string | undefined;
  };
  /** Names of `*features*`, upper case, without colons. */
  readonly features: readonly string[];
  /** Names in `*modules*`, as they were provided. */
  readonly modules: readonly string[];
  /** The image's global package. */
  readonly package: { readonly name: string; readonly prompt: string };
  /** E.g. `2.27` or `2.32.git`, a date in old releases, `undefined` when Swank was loaded in a way that lost it. */
  readonly version: string | undefined;
}

const { integer, keywordName, nullable, optional, plist, string } = decode;

const text = optional(nullable(string));

const info: Decoder<ConnectionInfo> = decode.map(
  plist({
    pid: optional(nullable(integer)),
    style: optional(nullable(keywordName)),
    lispImplementation: plist({ type: string, name: string, version: string, program: text }),
    machine: optional(plist({ instance: text, type: text, version: text })),
    features: optional(decode.list(featureName)),
    modules: optional(decode.list(string)),
    package: plist({ name: string, prompt: string }),
    version: nullable(string),
  }),
  ({ lispImplementation, machine, style, features = [], modules = [], ...info }) => ({
    ...info,
    style: style?.toLowerCase(),
    implementation: lispImplementation,
    machine: machine ?? { instance: undefined, type: undefined, version: undefined },
    features,
    modules,
  }),
);

/** `(swank:connection-info)`: describes the image and its Swank. */
export const connectionInfo = lispFunction({
  name: "swank:connection-info",
  decode: info,
});

/**
 * The same for the first request of a connection whose client needs no indentation rules. Swank then does not look through the macros of all
 * packages for these rules after the reply.
 */
export const connectionInfoWithoutRules = lispFunction({
  name: "cl:progn",
  encode: () => [noRulesForm(), withoutBreaks(connectionInfo.name)],
  decode: info,
  label: () => connectionInfo.name,
});

/**
 * Makes Swank look for the rules of new packages only. It names Swank's symbols by strings, which any server can read, and consists of calls
 * that Lisp evaluates without its compiler.
 */
function noRulesForm(): Sexp {
  const swank = "SWANK";
  const find = (name: string) => list(symbol("cl:find-symbol"), name, swank);
  const setter = list(symbol("cl:list"), quote(symbol("cl:setf")), find("CONNECTION.INDENTATION-CACHE-PACKAGES"));
  const connection = list(symbol("cl:symbol-value"), find("*EMACS-CONNECTION*"));
  const set = list(
    symbol("cl:funcall"),
    list(symbol("cl:fdefinition"), setter),
    list(symbol("cl:list-all-packages")),
    connection,
  );
  // Slynk serves in threads that are no Swank connection's.
  const guarded = list(
    symbol("cl:if"),
    list(symbol("cl:fboundp"), setter),
    list(symbol("cl:if"), connection, set, NIL),
    NIL,
  );
  return list(symbol("cl:if"), list(symbol("cl:find-package"), swank), guarded, NIL);
}

/** Calls a function of Swank so that the user's `*break-on-signals*` does not stop it. Lisp evaluates this without its compiler, too. */
function withoutBreaks(name: string): Sexp {
  const bindings = quote(list(list(symbol("cl:*break-on-signals*"))));
  return list(symbol("swank::call-with-bindings"), bindings, list(symbol("cl:function"), symbol(name)));
}
