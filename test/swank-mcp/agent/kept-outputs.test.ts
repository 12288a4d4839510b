import { expect } from "chai";
import { KeptOutputs } from "#swank-mcp/session/agent.js";

describe("KeptOutputs", () => {
  it("finds an output by its id", () => {
    const outputs = new KeptOutputs();
    const id = outputs.keep({ stream: "stderr", text: "abc" });
    expect(outputs.find(id)).to.deep.equal({ stream: "stderr", text: "abc" });
    expect(outputs.find(id + 1)).to.equal(undefined);
  });

  it("keeps the latest eight, and uses no id again", () => {
    const outputs = new KeptOutputs();
    const ids = [...Array(10).keys()].map((n) => outputs.keep({ stream: "stdout", text: `${n}` }));
    expect(new Set(ids).size).to.equal(10);
    expect(ids.map((id) => outputs.find(id)?.text)).to.deep.equal([undefined, undefined, ..."23456789"]);
  });

  it("keeps eight million characters, and always the latest output", () => {
    const outputs = new KeptOutputs();
    const keep = (length: number) => outputs.keep({ stream: "stdout", text: "x".repeat(length) });
    const ids = [keep(4_000_000), keep(4_000_000), keep(1)];
    expect(ids.map((id) => outputs.find(id)?.text.length)).to.deep.equal([undefined, 4_000_000, 1]);
    const long = keep(9_000_000);
    expect(ids.map((id) => outputs.find(id))).to.deep.equal([undefined, undefined, undefined]);
    expect(outputs.find(long)?.text).to.have.lengthOf(9_000_000);
  });
});
