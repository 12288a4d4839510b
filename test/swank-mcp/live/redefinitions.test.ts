import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

describe("evaluate-lisp on redefinitions", () => {
  let server: McpStdio;
  before(async () => {
    server = await McpStdio.start();
  });
  after(async () => {
    await server.end();
  });

  it("names them in the second block, with what still uses an old macro", async () => {
    await server.evaluate(
      `(defun average (x) x) (defclass stage () ()) (defgeneric process (stage))
       (defmethod process :around ((stage stage)) stage)
       (defmacro with-row (x) \`(list ,x)) (defun a (x) (with-row x)) (defun b (x) (with-row x)) (defun c (x) (with-row x))`,
    );
    const result = await server.call("evaluate-lisp", {
      code: `(defun average (x) (/ x 2)) (defmethod process :around ((stage stage)) nil)
        (defmacro with-row (x) \`(vector ,x)) (average 4)`,
    });
    expect(blocks(result)[0]).to.equal("=> 2");
    snapshots.match("redefinitions and stale users", blocks(result).join("\n\n"));
    expect(result._meta?.["swank-mcp/outcome"])
      .to.have.nested.property("stale[0].users")
      .that.deep.equals(["A", "B", "C"]);
  });

  it("names them after the stop, when the evaluation stops", async () => {
    await server.evaluate("(defun before-stop () 1)");
    const result = await server.call("evaluate-lisp", { code: "(defun before-stop () 2) (break)" });
    expect(blocks(result)).to.have.lengthOf(2);
    expect(blocks(result)[1]).to.match(/^Stopped, [\s\S]*\nRedefined: BEFORE-STOP$/);
  });
});
