import { expect } from "chai";
import { interruptCompiling } from "./interrupt-compiling.js";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

describe("Interrupts during compilation", () => {
  const image = liveImage();

  it("leave the image able to compile after 100 aborts and 100 interrupts", async () => {
    const client = await image.connect();
    for (let round = 0; round < 200; round += 1) await interruptCompiling(client, round % 2 === 0);
    expect(await values(client, "(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
  });
});
