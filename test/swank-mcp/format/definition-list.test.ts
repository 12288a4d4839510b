import { expect } from "chai";
import { DEFINITION_KINDS, type types } from "swank-client";
import { definitionsBlocks, LISTED_TYPES } from "#swank-mcp/tools/list-definitions.js";
import { resetText } from "#swank-mcp/tools/reset-session.js";
import { expectFacts } from "../../support/facts.js";

function definition(
  kind: types.Definition["kind"],
  name: string,
  changes: Partial<types.Definition> = {},
): types.Definition {
  return { kind, name, redefined: false, changed: false, saved: false, ...changes };
}

describe("definitionsBlocks", () => {
  it("says that there are no definitions", () => {
    expect(definitionsBlocks({ definitions: [], loaded: [] }, undefined)).to.deep.equal(["No definitions in session."]);
    expect(definitionsBlocks({ definitions: [], loaded: [] }, "macro")).to.deep.equal(["No definitions in session."]);
  });

  const all: types.Definitions = {
    definitions: [
      definition("variable", "APP::*X*"),
      definition("function", "APP:RUN", { redefined: true }),
      definition("class", "APP::C"),
      definition("function", "APP::WALK", { redefined: true, changed: true }),
      definition("method", "APP::AREA :AROUND (APP::C)", { changed: true }),
    ],
    loaded: [
      { kind: "file", name: "/a/b.lisp", times: 1 },
      { kind: "file", name: "/a/c.lisp", times: 3 },
      { kind: "system", name: "alexandria", times: 1 },
    ],
  };

  it("has a section for each type, in the order of definition", () => {
    const blocks = definitionsBlocks(all, undefined);
    expect(blocks).to.have.length(1);
    expect(blocks[0]).to.equal(`[functions]
APP:RUN (redefined)
APP::WALK (redefined, changed later by other code)

[methods]
APP::AREA :AROUND (APP::C) (changed later by other code)

[variables]
APP::*X*

[classes]
APP::C

[files]
/a/b.lisp
/a/c.lisp (loaded 3 times)
alexandria (system)`);
  });

  it("shows the name of a file on one line", () => {
    const loaded = [{ kind: "file", name: "/a/b\n[classes]", times: 1 }] as const;
    expect(definitionsBlocks({ definitions: [], loaded }, undefined)).to.deep.equal(["[files]\n/a/b [classes]"]);
  });

  it("lists one type, and names the others if it is empty", () => {
    expect(definitionsBlocks(all, "variable")).to.deep.equal(["[variables]\nAPP::*X*"]);
    expect(definitionsBlocks(all, "file")).to.deep.equal([
      "[files]\n/a/b.lisp\n/a/c.lisp (loaded 3 times)\nalexandria (system)",
    ]);
    expect(definitionsBlocks(all, "macro")).to.deep.equal([
      "No definitions in session.",
      "Of other types: 2 functions, 1 method, 1 variable, 1 class, 3 files",
    ]);
  });

  it("shows two hundred names of a type and the number left out", () => {
    const definitions = Array.from({ length: 203 }, (_, index) => definition("function", `F${index}`));
    const [text = ""] = definitionsBlocks({ definitions, loaded: [] }, undefined);
    expect(text.split("\n")).to.have.lengthOf(202);
    expect(text).to.match(/\nF199\n\.\.\. 3 more functions$/);
  });

  it("has a heading for every kind of definition", () => {
    expect([...LISTED_TYPES]).to.have.members([...DEFINITION_KINDS, "file"]);
  });
});

describe("resetText", () => {
  const nothing: types.ResetReport = {
    package: "COMMON-LISP-USER",
    undefined: [],
    left: [],
    loaded: [],
    aborted: 0,
    stillRunning: 0,
  };

  it("is short if nothing was reset", () => {
    expect(resetText(nothing)).to.equal("Session reset. The package is COMMON-LISP-USER.");
  });

  it("names undefined definitions, and those left with the reason", () => {
    const report: types.ResetReport = {
      package: "COMMON-LISP-USER",
      undefined: [{ kind: "function", name: "APP::F" }],
      left: [
        { kind: "class", name: "APP::C", reason: "kind" },
        { kind: "function", name: "APP::G", reason: "existed" },
        { kind: "variable", name: "APP::*V*", reason: "changed" },
        { kind: "generic-function", name: "APP::H", reason: "extended" },
        { kind: "function", name: "APP::I", reason: "locked" },
      ],
      loaded: [{ kind: "file", name: "/a/b.lisp", times: 2 }],
      aborted: 2,
      stillRunning: 1,
    };
    expectFacts(
      resetText(report),
      "[aborted]\n2 evaluations\n\n[still running]\n1 evaluation that could not be aborted\n\n[undefined]\nfunction APP::F\n\n[left]\n",
      "class APP::C: only functions, macros and variables are undefined\nfunction APP::G: existed before this session\nvariable APP::*V*: changed later by other code\n",
      "generic-function APP::H: other code has added methods\nfunction APP::I: its package is locked\n\n[left, loaded from files]\n/a/b.lisp (loaded 2 times)",
    );
  });

  it("shows fifty names of a kind and the number left out", () => {
    const gone = Array.from({ length: 52 }, (_, index) => ({ kind: "function", name: `F${index}` }) as const);
    expect(resetText({ ...nothing, undefined: gone })).to.match(/\nfunction F49\n\.\.\. 2 more$/);
  });
});
