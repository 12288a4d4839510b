import { expect } from "chai";
import { testCache } from "../../support/test-cache.js";
import { launching } from "./launching.js";

/** Whether SBCL must search all code for direct calls before it encapsulates a function. SBCL 2.5 and newer need not. */
const mustSearch = (name: string) => `
  (cl:let ((direct (cl:find-symbol "FDEFN-HAS-STATIC-CALLERS" "SB-VM")))
    (cl:and direct (cl:fboundp direct) (cl:funcall direct (sb-int:find-fdefn '${name})) cl:t))`;

const ENCAPSULATED = ["sb-ext:exit", "swank::dispatch-event", "swank/sbcl::definition-source-for-emacs"];

describe("launchImage from a core with the runtime", () => {
  const { launch } = launching();

  for (const name of ENCAPSULATED) {
    it(`need not search for direct calls of ${name}, which clients encapsulate`, async () => {
      const { evaluate } = await launch({
        cacheDir: testCache("swank-mcp"),
        runtimeSources: undefined,
        warmUp: undefined,
      });
      expect(await evaluate(mustSearch(name))).to.equal("nil");
    });
  }
});
