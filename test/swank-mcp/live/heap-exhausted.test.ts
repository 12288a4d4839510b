import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("code that exhausts the heap", () => {
  it("is told so, without SBCL's dump, and the next answer says on one line what became of the image", async () => {
    const server = await McpStdio.start();
    const [report] = await server.evaluate("(let (l) (loop (push 1 l)))", { timeout: 600 });
    // the collector finds no room and ends the process, or the allocation finds none and is an error
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
