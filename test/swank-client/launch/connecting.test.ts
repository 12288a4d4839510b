import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";
import { PLAIN } from "../../support/plain-core.js";
import { launching, sharedCache } from "./launching.js";

describe("Connecting to a launched image", () => {
  const { folder } = launching();
  const home = process.env["HOME"];

  afterEach(() => {
    process.env["HOME"] = home;
  });

  for (const [what, secret] of [
    ["the user's ~/.slime-secret", undefined],
    ["a secret that is given", "open sesame"],
  ] as const) {
    it(`sends no secret, because nothing else can connect: not ${what}`, async () => {
      const path = await folder();
      await writeFile(join(path, ".slime-secret"), "for others\n", { mode: 0o600 });
      process.env["HOME"] = path;
      const image = await launchImage({ ...PLAIN, cacheDir: await sharedCache() });
      try {
        const client = await connect({ transport: image.transport, secret });
        expect((await client.evaluate("(+ 1 2)").next()).status).to.equal("returned");
        await client.close();
      } finally {
        await image.stop();
      }
    });
  }
});
