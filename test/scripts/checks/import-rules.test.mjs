import { expect } from "chai";
import { importProblems } from "../../../scripts/checks/import-rules.mjs";

/** @param {string} name of the package @param {string} text */
const problems = (name, text) => importProblems(`packages/${name}/src/deep/file.ts`, text);

describe("the layer rule", () => {
  it("lets each package import what stands below it", () => {
    expect(problems("sexp-parser", 'import { a } from "./a.js";\nexport * from "../b.js";')).to.deep.equal([]);
    expect(problems("swank-client", 'import type { Sexp } from "sexp-parser";\nimport "node:fs";')).to.deep.equal([]);
    expect(
      problems("swank-mcp", 'import { z } from "zod";\nconst l = await import("swank-client/launch");'),
    ).to.deep.equal([]);
  });

  it("names the file, the import and the direction when one goes up or sideways", () => {
    for (const [name, specifier] of [
      ["sexp-parser", "swank-client"],
      ["sexp-parser", "node:fs"],
      ["swank-client", "swank-mcp"],
      ["swank-client", "zod"],
      ["swank-client", "@modelcontextprotocol/sdk/types.js"],
      ["swank-mcp", "sexp-parser"],
      ["swank-mcp", "swank-client/dist/wire/frame-decoder.js"],
    ]) {
      const [problem, ...others] = problems(String(name), `import {\n  a,\n} from "${specifier}";`);
      expect(problem)
        .to.include(`packages/${name}/src/deep/file.ts`)
        .and.include(`"${specifier}"`)
        .and.include("swank-mcp -> ");
      expect(others).to.deep.equal([]);
    }
  });

  it("sees every form of import", () => {
    for (const text of [
      'import "zod";',
      'export { z } from "zod";',
      'import type * as z from "zod";',
      'await import("zod");',
    ]) {
      expect(problems("swank-client", text)).to.have.lengthOf(1);
    }
  });

  it("refuses a relative import that leaves the package", () => {
    expect(problems("swank-mcp", 'import { a } from "../../../swank-client/src/a.js";')[0]).to.include(
      "leaves the package",
    );
  });

  it("is not misled by examples in comments", () => {
    expect(
      problems("sexp-parser", '/**\n * import { connect } from "swank-client";\n */\n// import "zod";\n'),
    ).to.deep.equal([]);
  });

  it("wants to be told about a new package", () => {
    expect(problems("new-one", 'import "node:fs";')[0]).to.include("not known");
  });

  it("leaves tests alone", () => {
    expect(importProblems("test/support/x.ts", 'import { z } from "zod";')).to.deep.equal([]);
  });
});
