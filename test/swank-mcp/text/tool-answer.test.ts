import { expect } from "chai";
import { withBoundedMeta } from "#swank-mcp/base/answer.js";

function answer(text: string, data: object) {
  const meta: unknown = JSON.parse(JSON.stringify({ "swank-mcp/x": data }));
  return withBoundedMeta({ blocks: [text], isError: false, meta: Object(meta) });
}

describe("withBoundedMeta", () => {
  it("leaves small data as they are, and data that are not larger than the text", () => {
    const data = { items: Array.from({ length: 500 }, (_, index) => index), text: "x".repeat(1000) };
    expect(answer("short", data).meta).to.deep.equal({ "swank-mcp/x": data });
    const large = { text: "x".repeat(39_900) };
    expect(answer("y".repeat(40_000), large).meta).to.deep.equal({ "swank-mcp/x": large });
  });

  it("spells keys alike, but not names of files and types", () => {
    const given = { leftOut: 1, files: [{ totalFrames: 2 }], types: { "a/someFile.lisp": 1, "STYLE-WARNING": 2 } };
    const spelled = { left_out: 1, files: [{ total_frames: 2 }], types: given.types };
    expect(answer("short", given).meta).to.deep.equal({ "swank-mcp/x": spelled });
  });

  const large: readonly (readonly [what: string, data: object, mark: RegExp])[] = [
    ["a list", { calls: Array.from({ length: 9000 }, (_, at) => ({ name: `f${at}` })) }, /"calls_left_out":8\d\d\d/],
    ["a list that was cut before", { a: Array(9000).fill("text"), a_left_out: 1000 }, /"a_left_out":9\d\d\d/],
    ["lists in a list", { rows: Array(300).fill(Array(300).fill(1)) }, /"rows_left_out":\d{4}/],
    ["a text", { status: "found", text: "x".repeat(900_000) }, /"status":"found".*characters left out/],
    [
      "many keys",
      Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`key${at}`, at])),
      /"keys_left_out":8\d\d\d/,
    ],
    ["deep objects", { a: { b: { c: Array(9000).fill({ d: "text" }) } } }, /"c_left_out":8\d\d\d/],
  ];
  for (const [what, data, mark] of large) {
    it(`cuts and marks ${what}`, () => {
      const cut = JSON.stringify(answer("x".repeat(1000), data).meta);
      expect(cut.length).to.be.at.most(4000);
      expect(cut).to.match(mark);
    });
  }
});
