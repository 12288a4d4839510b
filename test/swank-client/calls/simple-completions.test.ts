import { expect } from "chai";
import { read } from "sexp-parser";
import * as calls from "swank-client/swank";

/** What Swank answers, and the names in it. */
const REPLIES: readonly (readonly [version: string, reply: string, names: readonly string[]])[] = [
  ["up to 2.31", '(("car" "cdr") "c")', ["car", "cdr"]],
  ["up to 2.31, without any", '(nil "")', []],
  ["since 2.32", '(("car" "-f-------" "CAR") ("cdr" "-f-------" "CDR"))', ["car", "cdr"]],
  ["since 2.32, with one", '(("car" "-f-------" "CAR"))', ["car"]],
  ["since 2.32, without any", "nil", []],
];

describe("simpleCompletions", () => {
  for (const [version, reply, names] of REPLIES)
    it(`decodes the names that Swank sends ${version}`, () =>
      expect(calls.completion.simpleCompletions.decode(read(reply))).to.deep.equal(names));
});
