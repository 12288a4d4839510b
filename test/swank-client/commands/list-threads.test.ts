import { expect } from "chai";
import { read } from "sexp-parser";
import { commands } from "swank-client";

describe("a list of threads", () => {
  it("has those that begin or end, which have no number where the system gives it", () => {
    const table = '((:id :name :status :priority) (4711 "reader-thread" "Running" 0) (nil "worker" "Running" 0))';
    expect(commands.listThreads.decode(read(table))).to.deep.equal([
      { id: 4711, name: "reader-thread", status: "Running" },
      { id: undefined, name: "worker", status: "Running" },
    ]);
  });
});
