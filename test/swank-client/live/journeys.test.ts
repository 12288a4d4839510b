import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { BUILDING_TIME } from "../launch/launching.js";

const SCRIPT = fileURLToPath(new URL("../../../../bench/journeys.mjs", import.meta.url));

describe("The work of the library and the parser", () => {
  it("for an evaluation, for a stop and for connecting is what docs/architecture.md says, and within its limits", async function () {
    this.timeout(BUILDING_TIME);
    // Coverage of the tests themselves would count in the same process.
    const { NODE_V8_COVERAGE, ...env } = process.env;
    const ended = await promisify(execFile)(process.execPath, [SCRIPT], { env }).catch((error: unknown) => error);
    expect(ended, "`node bench/journeys.mjs` shows which modules run").not.to.be.instanceOf(Error);
    const counted = String(Reflect.get(Object(ended), "stdout"))
      .split("\n")
      .filter((line) => /, of at most \d+$/.test(line));
    expect(counted).to.have.lengthOf(3);
    const document = await readFile(new URL("../../../../docs/architecture.md", import.meta.url), "utf8");
    // The number of calls depends on the features of the image.
    const modules = counted.filter((line) => line.includes(" modules, "));
    for (const line of modules) expect(document, "Run `node bench/journeys.mjs --write`.").to.include(`- ${line}\n`);
  });
});
