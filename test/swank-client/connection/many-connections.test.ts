import { expect } from "chai";
import { openConnection, runnerOf, tcpOpener } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("Connection: a thousand connections in sequence to a real Swank", () => {
  let swank: RealSwank;
  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());

  it("leave no thread in the image and nothing open in the client process", async () => {
    const open = () => openConnection(tcpOpener({ port: swank.port }));
    const { connection } = await open();
    const threads = async () => {
      const all = await runnerOf(connection).run(calls.image.listThreads);
      return all.map(({ name }) => name).filter((name) => name !== "worker");
    };
    const before = await threads();
    const resources = process.getActiveResourcesInfo().sort();
    for (let count = 0; count < 1000; count++) await (await open()).connection.close();
    while ((await threads()).length > before.length);
    expect((await threads()).sort()).to.deep.equal(before.sort());
    expect(process.getActiveResourcesInfo().sort()).to.deep.equal(resources);
    await connection.close();
  }).timeout(120_000);
});
