import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import * as frontDoor from "swank-client";
import { ERROR_CODES } from "swank-client";
import * as internal from "swank-client/internal";
import * as launching from "swank-client/launch";
import * as protocol from "swank-client/protocol";
import * as swank from "swank-client/swank";

const SEXP = ["NIL", "T", "decode", "keyword", "list", "print", "quote", "read", "symbol"];
const CLIENTS = [
  "EvaluationError",
  "LaunchedClient",
  "LispError",
  "ReconnectingClient",
  "SwankClient",
  "SwankError",
  "connect",
  "connectLaunched",
  "launch",
];
const DATA = [
  "DEFINITION_KINDS",
  "ERROR_CODES",
  "findUnbalanced",
  "followEvaluation",
  "lisp",
  "lispFunction",
  "outlineCode",
  "rebalanced",
  "SourceText",
  "Sources",
];

describe("Entry points of swank-client", () => {
  it("swank-client exports these values and no others", () =>
    expect(Object.keys(frontDoor)).to.have.members([...SEXP, ...CLIENTS, ...DATA]));

  it("the other entry points share no value with it", () => {
    const others = [internal, launching, protocol, swank].flatMap((entry) => Object.keys(entry));
    expect(others.filter((name) => name in frontDoor)).to.deep.equal([]);
  });
});

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
