import { expect } from "chai";
import { commands, openConnection, tcpOpener } from "swank-client";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("a thousand connections to a real Swank, one after another", () => {
  let swank: RealSwank;
  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());

  it("leave no thread in the image and nothing open here", async () => {
    const open = () => openConnection(tcpOpener({ port: swank.port }));
    const { connection } = await open();
    const threads = async () => {
      const all = await commands.runCommand(connection, commands.listThreads, []);
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
