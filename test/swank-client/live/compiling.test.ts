import { expect } from "chai";
import { interruptCompiling } from "./interrupt-compiling.js";
import { liveClient } from "./live-image.js";

describe("Interrupts during compilation", () => {
  const image = liveClient();

  it("leave the image able to compile after 100 aborts and 100 interrupts", async () => {
    for (let round = 0; round < 200; round += 1) await interruptCompiling(image.client, round % 2 === 0);
    expect(await image.values("(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
  });
});
