import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { evaluate, values } from "./outcomes.js";

/** Makes the runtime call a function that fails after each evaluation. */
const BREAK_RETURNING = `(loop for package in (list-all-packages)
  for hooks = (and (eql 0 (search "SWANK-CLIENT/EVALUATIONS" (package-name package))) (find-symbol "*RETURN-HOOKS*" package))
  when hooks do (push (lambda (&rest arguments) (declare (ignore arguments)) (length 7)) (symbol-value hooks)))`;

describe("Faults of the runtime", () => {
  const image = liveImage();

  it("are recorded, and break nothing", async () => {
    const client = await image.connect();
    expect(await client.faults()).to.deep.equal([]);
    await evaluate(client, BREAK_RETURNING);
    image.swank.expectedFaults.push(/SEQUENCE/);
    const earlier = (await client.faults()).length;
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    const faults = await client.faults();
    expect(faults).to.have.lengthOf(earlier + 1);
    const fault = faults[earlier];
    expect(fault?.number).to.equal(earlier + 1);
    expect(fault?.type).to.match(/TYPE-ERROR$/);
    expect(fault?.text).to.match(/7.* SEQUENCE/);
    expect(fault?.functions).to.not.be.empty;
    expect(Math.abs(Date.now() - (fault?.time ?? 0))).to.be.lessThan(60_000);
  });

  it("are none without the runtime", async () => {
    const client = await image.connect({ runtime: false });
    expect(await client.faults()).to.be.an("array");
  });
});
