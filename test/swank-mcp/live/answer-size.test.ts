import { expect } from "chai";
import { liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Evaluations whose complete answers would have up to 12 MB. */
const LONG: Readonly<Record<string, string>> = {
  "many long values": "(values-list (make-list 50 :initial-element (make-string 30000)))",
  "many long warnings": `(dotimes (i 100) (warn "~d~a" i (make-string 4000 :initial-element #\\w)))`,
  "a deep error": `(defun deep (n text) (if (= n 0) (error "~a" text) (1+ (deep (1- n) text))))
(deep 300 (make-string 30000 :initial-element #\\m))`,
};

describe("answer size", () => {
  const server = liveServer();

  for (const [what, code] of Object.entries(LONG)) {
    it(`stays below 100 kB: ${what}`, async () => {
      const line = JSON.stringify(await server.call("evaluate-lisp", { code }));
      expect(Buffer.byteLength(line)).to.be.within(20_000, 100_000);
    });
  }

  it("stays below 100 kB: many long values of a frame", async () => {
    const [, stop = ""] = await server.evaluate('(defun stopped () (error "here")) (stopped)');
    const thread = stop.match(/thread (\d+\/\d+)/)?.[1];
    const code = LONG["many long values"];
    const answer = await server.call("debugger_eval_in_frame", { frame: 1, code, thread });
    expect(blocks(answer)[0]).to.match(/^(=> .*\n){50}; Cut to fit\. \(nth-value 0 FORM\) in the frame gives/);
    expect(Buffer.byteLength(JSON.stringify(answer))).to.be.within(20_000, 100_000);
    await server.call("debugger_invoke_restart", { restart: "ABORT", thread });
  });

  it("bounds the data of a list by the answer's text, and says how much was left out", async () => {
    const code = `(progn ${"(defun careless () (not-defined))\n".repeat(400)})`;
    const { _meta: meta, ...rest } = await server.call("compile-code", { code });
    const data = JSON.stringify(meta);
    expect(data.length).to.be.at.most(Math.max(4000, blocks(rest).join("").length));
    expect(data).to.match(/_left_out":[1-9]/);
  });

  it("depends on --max-value", async () => {
    const value = (length: number) => `(make-string ${length} :initial-element #\\v)`;
    const much = await McpStdio.start(["--max-value", "50000"]);
    expect(await much.evaluate(value(40_000))).to.deep.equal([`=> "${"v".repeat(40_000)}"`]);
    await much.end();
  });

  it("says behind each cut value how much of it is shown, also in a frame", async () => {
    const little = await McpStdio.start(["--max-value", "100"]);
    const code =
      "(values (make-string 120 :initial-element #\\v) (make-list 150 :initial-element 1) '((1)) '(((((((((((((((((((((2))))))))))))))))))))))";
    const shown = [
      `=> "${"v".repeat(100)}"... [100 of 120 characters shown]`,
      `=> (${"1 ".repeat(49)}1... [cut at 100 characters]`,
      "=> ((1))",
      "=> ((((((((((((((((((((#))))))))))))))))))))",
    ].join("\n");
    expect(await little.evaluate(code)).to.deep.equal([shown]);
    const [, stop = ""] = await little.evaluate('(defun stopped () (error "here")) (stopped)');
    const thread = stop.match(/thread (\d+\/\d+)/)?.[1];
    const inFrame = await little.call("debugger_eval_in_frame", { frame: 1, code, thread });
    expect(blocks(inFrame)[0]).to.equal(shown);
    await little.end();
    const elements = "(make-list 300 :initial-element 1)";
    expect(await server.evaluate(elements)).to.deep.equal([`=> (${"1 ".repeat(200)}...) [200 of 300 elements shown]`]);
    const { _meta } = await server.call("evaluate-lisp", { code: elements });
    expect(_meta)
      .to.have.nested.property("swank-mcp/outcome.values[0]")
      .that.matches(/ \.\.\.\) \[200 of 300 elements shown\]$/);
  });

  it("limits the answer, not the values in the image", async () => {
    const [report = ""] = await server.evaluate(
      "(values (make-string 15000 :initial-element #\\a) (make-string 15000 :initial-element #\\b))",
    );
    expect(report).to.match(
      /^; Cut to fit\. In the next call the list \/ holds the whole values: \(nth 0 \/\) is the first\.$/m,
    );
    expect(blocks(await server.call("evaluate-lisp", { code: "(nth 1 /)" }))).to.deep.equal([
      `=> "${"b".repeat(15_000)}"`,
    ]);
  });
});
