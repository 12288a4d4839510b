import { expect } from "chai";
import { liveClient } from "./live-image.js";

describe("methods on print-object for single objects", () => {
  const image = liveClient();

  for (const specializers of ["((x (eql :loud)) stream)", "((x (eql :loud)) (stream string-stream))"]) {
    it(`${specializers} can be defined by an evaluation, and are called at once and later`, async () => {
      const define = `(defmethod print-object ${specializers} (write-string "LOUD!" stream))`;
      expect(await image.values(`${define} (princ-to-string :loud)`)).to.deep.equal(['"LOUD!"']);
      expect(await image.values("(list (princ-to-string :loud) (princ-to-string :soft))")).to.deep.equal([
        '("LOUD!" "SOFT")',
      ]);
      const remove =
        "(let ((f #'print-object)) (remove-method f (first (sb-mop:specializer-direct-methods (sb-mop:intern-eql-specializer :loud)))) 1)";
      expect(await image.values(remove)).to.deep.equal(["1"]);
      expect(await image.values("(princ-to-string :loud)")).to.deep.equal(['"LOUD"']);
    });
  }
});

// An image of its own: in SBCL from 2.5, removing a method that specializes the stream, as above, hides methods that are added later.
describe("methods on print-object that other code has loaded", () => {
  const image = liveClient();

  it("are called for single objects", async () => {
    await image.ask(
      '(cl:not (cl:eval (cl:read-from-string "(defmethod cl:print-object ((x (eql :calm)) stream) (cl:write-string \\"calm\\" stream))")))',
    );
    expect(await image.values("(princ-to-string :calm)")).to.deep.equal(['"calm"']);
  });
});
