import { Buffer } from "node:buffer";
import { expect } from "chai";
import * as wire from "swank-client/protocol";
import { thrown } from "../../support/caught.js";

const encoded = (payload: string) => Buffer.from(wire.encodeFrame(payload)).toString("utf8");

describe("encodeFrame", () => {
  it("writes the number of bytes, not of characters, before the text", () => {
    expect(encoded("")).to.equal("000000");
    expect(encoded("(a)")).to.equal("000003(a)");
    expect(encoded("(λ 😀)")).to.equal("000009(λ 😀)");
    expect(encoded("x".repeat(0xabcd)).slice(0, 6)).to.equal("00abcd");
  });

  it("replaces lone surrogates, which have no UTF-8", () => {
    expect(encoded("\ud800a")).to.equal("000004\ufffda");
    expect(encoded("a\udfff")).to.equal("000004a\ufffd");
    expect(encoded("\udc00\ud800")).to.equal("000006\ufffd\ufffd");
  });

  it("refuses a message that is too long for the header", () => {
    expect(wire.encodeFrame("x".repeat(0xffffff)).length).to.equal(6 + 0xffffff);
    const error = thrown("FRAME_TOO_LARGE", () => wire.encodeFrame("λ".repeat(0x800000)));
    expect(error.message).to.equal("The message has 16777216 bytes; the limit is 16777215.");
  });
});
