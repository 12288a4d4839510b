import { expect } from "chai";
import type { SwankMessage } from "swank-client/protocol";
import * as wire from "swank-client/protocol";
import { thrown } from "../../support/caught.js";
import { divisions } from "../../support/divisions.js";
import { frame } from "../../support/fake-swank.js";
import { MESSAGE_CASES } from "./cases/index.js";

function receive(chunks: readonly Uint8Array[]): SwankMessage[] {
  const messages: SwankMessage[] = [];
  const decoder = new wire.FrameDecoder((payload) => messages.push(wire.readMessage(payload)));
  for (const chunk of chunks) decoder.push(chunk);
  return messages;
}

describe("readMessage", () => {
  for (const { title, text, message } of MESSAGE_CASES) {
    it(`decodes ${title}, however the bytes arrive`, () => {
      for (const { name, chunks } of divisions(frame(text))) expect(receive(chunks), name).to.deep.equal([message]);
    });
  }

  it("decodes many messages in order", () => {
    const bytes = Buffer.concat(MESSAGE_CASES.map(({ text }) => frame(text)));
    expect(receive([bytes])).to.deep.equal(MESSAGE_CASES.map(({ message }) => message));
  });

  it("refuses Lisp data that is not a message", () => {
    for (const text of [
      "",
      "hello",
      "42",
      '"(:ping 1 2)"',
      "nil",
      "(ping 1 2)",
      "((:ping))",
      "(foo . :bar)",
      "#(:ping 1 2)",
    ]) {
      const error = thrown("UNREADABLE_MESSAGE", () => wire.readMessage(text));
      expect(error.message, text).to.equal("The received data are not a Swank message.");
    }
  });

  it("refuses text that is not Lisp data, and shows it in the error", () => {
    for (const text of [")", "(((((", "{}", '{"jsonrpc":"2.0"', '"unclosed', "#<"]) {
      expect(thrown("UNREADABLE_MESSAGE", () => wire.readMessage(text)).details.received, text).to.equal(text);
    }
  });

  it("limits nesting to more than any image prints", () => {
    const nested = (depth: number) => `(:return (:ok ${"(".repeat(depth)}1${")".repeat(depth)}) 1)`;
    expect(wire.readMessage(nested(9000)).type).to.equal("return");
    expect(wire.readMessage(nested(100_000))).to.include({ type: "unreadable", id: 1 });
  });
});
