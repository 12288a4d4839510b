import { expect } from "chai";
import { liveImage } from "./live-image.js";

describe("Program.state", function () {
  this.timeout(60_000);
  const image = liveImage();

  it("counts memory, threads and other clients", async () => {
    const client = await image.connect();
    const state = await client.program.state();
    expect(state.used).to.be.greaterThan(1_000_000).and.to.be.lessThan(state.size);
    expect(state.size).to.equal(Number(await image.ask("(sb-ext:dynamic-space-size)")));
    expect(state.threads).to.be.greaterThan(2);
    const other = await image.connect();
    const after = await client.program.state();
    expect(after.clients).to.be.greaterThan(state.clients);
    await other.close();
  });
});
