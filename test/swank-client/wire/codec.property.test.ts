import { Buffer } from "node:buffer";
import { expect } from "chai";
import fc from "fast-check";
import { keyword, read, type Sexp } from "sexp-parser";
import type { ClientMessage } from "swank-client/protocol";
import * as wire from "swank-client/protocol";

/** Strings with everything in them: quotes, backslashes, controls, other planes, lone surrogates. */
const anyString = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", maxLength: 1 }),
    fc.constantFrom('"', "\\", "\ud800", "\udc00", "\0", "\n"),
  ),
});

const wellFormed = fc.string({ unit: "binary" });

/** Data as a caller may send it. */
const { datum } = fc.letrec<{ datum: Sexp; list: Sexp }>((tie) => ({
  datum: fc.oneof(
    { maxDepth: 4 },
    wellFormed,
    fc.maxSafeInteger(),
    fc.bigInt({ min: 2n ** 53n }),
    wellFormed.map((name) => keyword(name)),
    tie("list"),
  ),
  list: fc.array(tie("datum"), { minLength: 1, maxLength: 5 }),
}));

/** Places at which to cut so many bytes. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((start, index) => bytes.subarray(start, cuts[index] ?? bytes.length));
}

describe("The wire codec", () => {
  it("round-trips messages, however the stream is divided", () => {
    fc.assert(
      fc.property(fc.array(anyString), fc.array(fc.nat()), (payloads, places) => {
        const received: string[] = [];
        const decoder = new wire.FrameDecoder((payload) => received.push(payload));
        for (const chunk of cutAt(Buffer.concat(payloads.map(wire.encodeFrame)), places)) decoder.push(chunk);
        expect(received).to.deep.equal(payloads.map((payload) => Buffer.from(payload, "utf8").toString("utf8")));
        expect(decoder.isPartial).to.equal(false);
      }),
    );
  });

  it("decodes any bytes to frames, the beginning of a frame, or an error with a code", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(fc.nat()), (bytes, places) => {
        const outcome = (chunks: readonly Uint8Array[]) => {
          const received: string[] = [];
          const decoder = new wire.FrameDecoder((payload) => received.push(payload));
          try {
            for (const chunk of chunks) decoder.push(chunk);
          } catch (error) {
            expect(error).to.have.property("code").that.is.oneOf(["BAD_FRAME", "FRAME_TOO_LARGE"]);
            return { received, failed: true };
          }
          return { received, failed: false };
        };
        expect(outcome(cutAt(bytes, places))).to.deep.equal(outcome([bytes]));
      }),
    );
  });

  it("encodes requests that Lisp's syntax preserves", () => {
    fc.assert(
      fc.property(datum, wellFormed, fc.maxSafeInteger(), (form, packageName, id) => {
        const message: ClientMessage = { type: "emacs-rex", form, package: packageName, thread: "t", id };
        expect(read(wire.printMessage(message))).to.deep.equal(wire.encodeMessage(message));
      }),
    );
  });

  it("decodes any value in a reply", () => {
    fc.assert(
      fc.property(datum, fc.maxSafeInteger(), (value, id) => {
        const text = wire.printMessage({ type: "emacs-return", thread: 1, tag: id, value });
        const message = wire.readMessage(text.replace(/^\(:emacs-return 1 (-?\d+) (.*)\)$/s, "(:return (:ok $2) $1)"));
        expect(message).to.deep.equal({ type: "return", id, reply: { status: "ok", value } });
      }),
    );
  });

  it("decodes any list that begins with a keyword as a message, and nothing else", () => {
    fc.assert(
      fc.property(datum, (value) => {
        const decoded = () => wire.decodeMessage(value);
        if (Array.isArray(value) && isKeyword(value[0])) expect(decoded()).to.have.property("type").that.is.a("string");
        else expect(decoded).to.throw().with.property("code", "UNREADABLE_MESSAGE");
      }),
    );
  });
});

function isKeyword(datum: Sexp | undefined): boolean {
  return typeof datum === "object" && "kind" in datum && datum.kind === "symbol" && datum.package === "KEYWORD";
}
