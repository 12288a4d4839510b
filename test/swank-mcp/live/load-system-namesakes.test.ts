import { expect } from "chai";
import { loadingSuite, loadText } from "../../support/loadable-systems.js";

describe("load-system with a file whose system has a namesake elsewhere", () => {
  const suite = loadingSuite();
  before(async () => {
    const { server, systems } = suite;
    // Compiled files of all folders share one: the names differ.
    for (const place of ["near", "far"]) {
      await systems.write(`${place}/price.asd`, `(defsystem "price" :components ((:file "price-${place}")))`);
      await systems.write(`${place}/price-${place}.lisp`, `(defun price () :${place})\n`);
    }
    await systems.write(
      "near/bill.asd",
      `(defsystem "bill" :depends-on ("price")
        :perform (test-op (o c) (format t "price: ~a~%" (symbol-call :cl-user :price))))`,
    );
    await server.evaluate(
      `(asdf:initialize-source-registry '(:source-registry (:directory "${systems.folder}/far/") :ignore-inherited-configuration))`,
    );
  });

  const answer = async (tool: string, args: Record<string, unknown>) => loadText(await suite.server.call(tool, args));

  it("makes ASDF find the systems of the file's folder from then on", async () => {
    expect(await answer("load-system", { file: "near/bill.asd" })).to.match(/^System bill is loaded: 1 file,/);
    const tested = await answer("run-tests", { name: "bill" });
    expect(tested).to.include("[stdout]\nprice: NEAR");
    expect(tested).not.to.include("Redefined");
    expect(await answer("load-system", { system: "price" })).to.match(/^System price was loaded before/);
    await suite.server.evaluate("(asdf:clear-system :price) (asdf:load-system :price)");
    expect(await suite.server.evaluate("(price)")).to.deep.equal(["=> :NEAR"]);
  });

  it("lets run-tests name what it has redefined, if ASDF finds the other one", async () => {
    await suite.server.evaluate(
      '(setf asdf:*central-registry* (last asdf:*central-registry*)) (asdf:load-asd (truename "near/bill.asd"))',
    );
    const tested = await answer("run-tests", { name: "bill" });
    expect(tested).to.include("[stdout]\nprice: FAR");
    expect(tested).to.include("\n\nRedefined by far/price-far.lisp: PRICE");
  });
});
