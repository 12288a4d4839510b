import { type Decoder, decode, keyword, quote, type Sexp, symbol } from "sexp-parser";
import { ownCode } from "../wire/sent.js";

const { list, literal, map, oneOf } = decode;

/*
 * Requests to every version of the runtime in the image, through the place where they and the user's Emacs find each other (lisp/emacs/listeners.lisp).
 * They load nothing, and need no runtime of this version.
 */

/** The version of the requests and events. Runtimes of another one are not asked. */
export const PROTOCOL = 1;

/** The versions of the runtime in the image, a list of `(PROTOCOL VERSION FUNCTION)`. */
const RUNTIMES = ownCode(
  `(cl:remove ${PROTOCOL} (cl:car (cl:get :swank-mcp :runtimes)) :key 'cl:first :test-not 'cl:eql)`,
);

/**
 * Gives the list of the answers to a request, the newest version's first. SBCL evaluates these calls without its compiler, for whose lock
 * other code of the image may wait.
 */
export function requestForm(operation: string, ...args: readonly Sexp[]): Sexp {
  return [
    symbol("cl:mapcar"),
    quote(symbol("cl:apply")),
    [symbol("cl:mapcar"), quote(symbol("cl:third")), RUNTIMES],
    [
      symbol("cl:make-list"),
      [symbol("cl:length"), RUNTIMES],
      keyword("initial-element"),
      [symbol("cl:list"), keyword(operation), ...args],
    ],
  ];
}

const unknown = map(literal(keyword("unknown")), () => undefined);

/** Decodes the answers of the versions that know the request. */
export function answersOf<Answer>(answer: Decoder<Answer>): Decoder<readonly Answer[]> {
  const each: Decoder<Answer | undefined> = oneOf<[undefined, Answer]>(unknown, answer);
  return map(list(each), (answers) => answers.flatMap((given) => (given === undefined ? [] : [given])));
}
