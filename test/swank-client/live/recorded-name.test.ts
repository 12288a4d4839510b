import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

describe("AgentActivity.recordedName", function () {
  this.timeout(60_000);
  const image = liveImage();

  it("gives the name of each of two clients with one name, once the image has been told it", async () => {
    const clients = [await image.connect({ agentName: "twin" }), await image.connect({ agentName: "twin" })];
    for (const client of clients) {
      expect(await client.activity.recordedName()).to.equal(undefined);
      await values(client, "1");
    }
    const names = await Promise.all(clients.map((client) => client.activity.recordedName()));
    expect(names).to.deep.equal(["twin", "twin 2"]);
  });

  it("gives none for a client without one", async () => {
    const client = await image.connect();
    await values(client, "1");
    expect(await client.activity.recordedName()).to.equal(undefined);
  });
});
