import { expect } from "chai";
import { blocks, McpStdio } from "../../support/mcp-stdio.js";

/** Evaluations whose answers would be up to 12 MB if everything were told. */
const LONG: Readonly<Record<string, string>> = {
  "many long values": "(values-list (make-list 50 :initial-element (make-string 30000)))",
  "many long warnings": `(dotimes (i 100) (warn "~d~a" i (make-string 4000 :initial-element #\\w)))`,
  "a deep error": `(defun deep (n text) (if (= n 0) (error "~a" text) (1+ (deep (1- n) text))))
(deep 300 (make-string 30000 :initial-element #\\m))`,
};

describe("the size of an answer", () => {
  let server: McpStdio;

  before(async () => {
    server = await McpStdio.start();
  });

  after(async () => {
    await server.end();
  });

  for (const [what, code] of Object.entries(LONG)) {
    it(`stays below 100 kB: ${what}`, async () => {
      const line = JSON.stringify(await server.call("evaluate-lisp", { code }));
      expect(Buffer.byteLength(line)).to.be.within(20_000, 100_000);
    });
  }

  it("does not keep anybody from the whole values", async () => {
    const [report = ""] = await server.evaluate(
      "(values (make-string 15000 :initial-element #\\a) (make-string 15000 :initial-element #\\b))",
    );
    expect(report).to.match(
      /^; Cut to fit\. The next call finds the values in the list \/: \(nth 0 \/\) is the first\.$/m,
    );
    expect(blocks(await server.call("evaluate-lisp", { code: "(nth 1 /)" }))).to.deep.equal([
      `=> "${"b".repeat(15_000)}"`,
    ]);
  });
});
