import { expect } from "chai";
import { read } from "sexp-parser";
import * as calls from "swank-client/swank";

describe("listThreads", () => {
  it("includes starting and ending threads, which may have no number", () => {
    const table = '((:id :name :status :priority) (4711 "reader-thread" "Running" 0) (nil "worker" "Running" 0))';
    expect(calls.image.listThreads.decode(read(table))).to.deep.equal([
      { id: 4711, name: "reader-thread", status: "Running" },
      { id: undefined, name: "worker", status: "Running" },
    ]);
  });
});
