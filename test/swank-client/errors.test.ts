import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ERROR_CODES } from "swank-client";

const PACKAGES = fileURLToPath(new URL("../../../packages/", import.meta.url));

describe("ERROR_CODES", () => {
  it("are all used by an error", async () => {
    const text = (await Promise.all((await sources()).map((file) => readFile(file, "utf8")))).join("\n");
    expect(Object.keys(ERROR_CODES).filter((code) => !text.includes(`"${code}"`))).to.deep.equal([]);
  });
});

/** The sources of all packages, except the table itself. */
async function sources(): Promise<string[]> {
  const folders = (await readdir(PACKAGES)).map((name) => `${PACKAGES}${name}/src/`);
  const files = await Promise.all(
    folders.map(async (folder) => (await readdir(folder, { recursive: true })).map((file) => folder + file)),
  );
  return files.flat().filter((file) => file.endsWith(".ts") && !file.endsWith("swank-client/src/base/errors.ts"));
}
