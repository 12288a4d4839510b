import { expect } from "chai";
import type { Looks } from "#swank-mcp/page/model.js";
import {
  changeKey,
  diffLines,
  newKeys,
  readSeen,
  seenOf,
  textsOf,
  withGaps,
} from "#swank-mcp-page/panels/change-diff.js";

type Change = Extract<Looks["changes"]["result"], { status: "found" }>["changes"][number];

const change = (more: Partial<Change>): Change => ({
  state: "differs",
  kind: "function",
  name: "f",
  text: "(defun f () 2)",
  fileText: "(defun f () 1)",
  fromClient: true,
  file: "/a.lisp",
  line: 1,
  column: 1,
  ...more,
});

const shown = (before: string, after: string) =>
  withGaps(diffLines(before, after)).map((line) =>
    line.kind === "gap" ? `... ${line.lines}` : `${line.kind} ${line.before ?? ""} ${line.after ?? ""} ${line.text}`,
  );

describe("the diffs of the page", () => {
  it("number the lines of both texts", () => {
    expect(shown("a\nb\nc\n", "a\nx\nc")).to.deep.equal(["same 1 1 a", "removed 2  b", "added  2 x", "same 3 3 c"]);
  });

  it("leave out unchanged lines that are far from changed ones", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const texts = shown(lines.join("\n"), lines.map((line) => (line === "line 9" ? "new" : line)).join("\n"));
    expect(texts[0]).to.equal("... 6");
    expect(texts.at(-1)).to.equal("... 7");
    expect(texts.length).to.equal(10);
  });

  it("go from nothing, or to nothing", () => {
    expect(shown("", "a")).to.deep.equal(["added  1 a"]);
    expect(shown("a", "")).to.deep.equal(["removed 1  a"]);
    expect(shown("a", "a")).to.deep.equal(["... 1"]);
  });

  it("have the texts that the state of the change is about", () => {
    const of = (more: Partial<Change>) => {
      const texts = textsOf(change(more));
      return texts && [texts.before, texts.after];
    };
    expect(of({})).to.deep.equal(["(defun f () 1)", "(defun f () 2)"]);
    expect(of({ state: "changed" })).to.deep.equal(["(defun f () 2)", "(defun f () 1)"]);
    expect(of({ state: "new", text: undefined })).to.deep.equal(["", "(defun f () 1)"]);
    expect(of({ state: "deleted" })).to.deep.equal(["(defun f () 2)", ""]);
    expect(of({ state: "image-only", fileText: undefined })).to.deep.equal(["", "(defun f () 2)"]);
    expect(of({ state: "changed", text: undefined })).to.equal(undefined);
    expect(of({ state: "maybe-changed", text: undefined })).to.equal(undefined);
  });
});

describe("the marks of changes", () => {
  const first = change({});
  const second = change({ name: "g" });

  it("are none before anything was seen", () => {
    expect(newKeys([first, second], undefined).size).to.equal(0);
  });

  it("are on what is new or has another text or state since it was seen", () => {
    const seen = readSeen(JSON.stringify(seenOf([first, second])));
    expect(newKeys([first, second], seen).size).to.equal(0);
    const again = change({ text: "(defun f () 3)" });
    const third = change({ name: "h" });
    expect([...newKeys([again, second, third], seen)]).to.deep.equal([changeKey(first), changeKey(third)]);
    expect(newKeys([change({ state: "conflict" })], seen).size).to.equal(1);
  });

  it("are none if what the browser kept cannot be read", () => {
    for (const text of [null, "", "1", "null", "{"]) expect(readSeen(text)).to.equal(undefined);
    expect(readSeen('{"a":1,"b":"x"}')).to.deep.equal({ a: 1 });
  });
});
