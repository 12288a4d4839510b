import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("evaluate-lisp on code that exhausts the heap", () => {
  it("reports it without SBCL's dump, and the next answer reports the lost image on one line", async () => {
    const server = await McpStdio.start();
    const [report] = await server.evaluate("(let (l) (loop (push 1 l)))", { timeout: 600 });
    // Either the collector runs out of memory and ends the process, or the allocation fails with an error.
    expect(report).to.match(
      /^\[ERROR\] (?:IMAGE-LOST\n[\s\S]*\nHeap exhausted during |STORAGE-CONDITION\nHeap exhausted)/,
    );
    expect(report).to.not.match(/fp=0x|INFO: /);
    const [value, notice = "This answer comes from a new image"] = await server.evaluate("1");
    expect(value).to.equal("=> 1");
    expect(notice).to.include("This answer comes from a new image").and.not.include("\n");
    await server.end();
  });
});
