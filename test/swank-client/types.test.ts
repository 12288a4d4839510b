import { readFile } from "node:fs/promises";
import { expect } from "chai";

const DIST = new URL("../../../packages/swank-client/dist/", import.meta.url);

const declarations = (name: string) => readFile(new URL(`${name}.d.ts`, DIST), "utf8");

/** What the groups of a pattern match in a text. */
const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = ""]) => name);

describe("swank-client/swank", () => {
  it("has every type of the arguments and results of its calls", async () => {
    const exported = await declarations("swank/index");
    const modules = matches(exported, /from "\.\/([\w-]+)\.js"/g);
    const types = await Promise.all(
      modules.map(async (name) =>
        matches(await declarations(`swank/${name}`), /^export (?:interface|type) (\w+)/gm).filter(
          (type) => !/^Compile[dF]/.test(type),
        ),
      ),
    );
    expect(types.flat()).to.have.length.of.at.least(30);
    expect(types.flat().filter((name) => !new RegExp(`\\b${name}\\b`).test(exported))).to.deep.equal([]);
  });
});
