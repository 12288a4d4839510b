import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { partsOf, pictures } from "../../../scripts/docs/picture.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

const PAGE = `# A session

Where it comes from.

\`\`\`
evaluate-lisp
code: (f)
  1
\`\`\`

\`\`\`
=> 2
\`\`\`

It is
even.
`;

/** The share of light that a colour reflects (WCAG 2.2, relative luminance). @param {string} colour */
function luminance(colour) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe("partsOf", () => {
  it("tells calls, answers and what the agent says apart", () => {
    expect(partsOf(PAGE)).to.deep.equal([
      { kind: "call", lines: ["evaluate-lisp", "code: (f)", "  1"] },
      { kind: "answer", lines: ["=> 2"] },
      { kind: "said", lines: ["It is even."] },
    ]);
  });
});

describe("the pictures of the session", () => {
  it("show what the session's page has, from the error to the value", async () => {
    const page = await readFile(inRepository("docs/session.md"), "utf8");
    for (const picture of Object.values(await pictures())) {
      const lines = [...picture.matchAll(/<text class="\w+" [^>]*>([^<]*)</g)].map(([, text = ""]) =>
        text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
      );
      expect(lines[0]).to.match(/^> evaluate-lisp /);
      expect(lines).to.include("[ERROR] TYPE-ERROR");
      expect(lines.at(-1)).to.equal("=> 10");
      const words = (/** @type {string} */ text) => text.replaceAll(/\s+/g, " ");
      for (const line of lines.filter((text) => !text.startsWith("> ")))
        expect(words(page)).to.include(words(line.replace(/…$/, "")).trim());
    }
  });

  it("can be read on light and on dark pages", async () => {
    for (const [path, picture] of Object.entries(await pictures())) {
      const [, back = ""] = /<rect [^>]*fill="(#\w{6})"/.exec(picture) ?? [];
      for (const [, colour = ""] of picture.matchAll(/fill: (#\w{6})/g)) {
        const [bright = 0, dim = 0] = [luminance(back), luminance(colour)].sort((left, right) => right - left);
        expect((bright + 0.05) / (dim + 0.05), `${colour} in ${path}`).to.be.at.least(4.5);
      }
    }
  });
});
