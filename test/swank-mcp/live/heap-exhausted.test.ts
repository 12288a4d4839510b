import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("evaluate-lisp on code that exhausts the heap", () => {
  it("reports it without SBCL's dump, and the next answer reports the lost image on one line", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "300"]);
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

  it("shows the program's calls first, and none of SBCL's allocator, in a small heap", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "300"]);
    after(() => server.end());
    const [report = ""] = await server.evaluate("(defun fill-up (n) (make-array n)) (list (fill-up (ash 1 28)))");
    expect(report).to.match(
      /^\[ERROR\] STORAGE-CONDITION\nHeap exhausted[\s\S]*\[Backtrace\]\n\d: \(FILL-UP 268435456\)$/,
    );
    // Newer SBCLs than 2.5 allocate the array in the program's function.
    const caller = /^\[Backtrace\]\n0: \((?:SB-KERNEL:%MAKE-ARRAY|FILL-UP) 268435456/;
    const allocator = /foreign function|HEAP-EXHAUSTED-ERROR|ALLOC/;
    const [backtrace = ""] = blocks(await server.call("get-backtrace"));
    expect(backtrace).to.match(caller).and.not.match(allocator);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    const [alone = ""] = await server.evaluate("(make-array (ash 1 28))");
    expect(alone)
      .to.match(/\[Backtrace\]\n0: \(SB-KERNEL:%MAKE-ARRAY 268435456 /)
      .and.not.match(allocator);
    await server.end();
  });
});
