import { Buffer } from "node:buffer";
import { expect } from "chai";
import * as wire from "swank-client/protocol";
import { thrown } from "../../support/caught.js";
import { divisions } from "../../support/divisions.js";

interface Case {
  readonly title: string;
  readonly bytes: Uint8Array;
  readonly payloads: readonly string[];
}

const utf8 = (text: string) => Buffer.from(text, "utf8");

const CASES: readonly Case[] = [
  { title: "one frame", bytes: utf8("000005hello"), payloads: ["hello"] },
  { title: "an upper-case header", bytes: utf8("00000A0123456789"), payloads: ["0123456789"] },
  { title: "a lower-case header", bytes: utf8("00000a0123456789"), payloads: ["0123456789"] },
  { title: "an empty payload", bytes: utf8("000000"), payloads: [""] },
  { title: "an empty payload before another", bytes: utf8("000000000001x"), payloads: ["", "x"] },
  { title: "three frames", bytes: utf8("000001a000002bc000003def"), payloads: ["a", "bc", "def"] },
  { title: "lengths counted in bytes", bytes: utf8("000007(ä λ)00000C(おは よ)"), payloads: ["(ä λ)", "(おは よ)"] },
  { title: "characters outside the basic plane", bytes: utf8("00000b(😀 𝄞)"), payloads: ["(😀 𝄞)"] },
  {
    title: "NUL, newlines and a byte-order mark",
    bytes: utf8("00000a\ufeff(\0\r\n\n) "),
    payloads: ["\ufeff(\0\r\n\n) "],
  },
  { title: "a payload that looks like a header", bytes: utf8("000006000006000002ab"), payloads: ["000006", "ab"] },
];

function decodeAll(chunks: readonly Uint8Array[], limit?: number): string[] {
  const payloads: string[] = [];
  const decoder = new wire.FrameDecoder((payload) => payloads.push(payload), { limit });
  for (const chunk of chunks) decoder.push(chunk);
  return payloads;
}

describe("FrameDecoder", () => {
  for (const { title, bytes, payloads } of CASES)
    it(`reads ${title}, however the bytes arrive`, () => {
      for (const { name, chunks } of divisions(bytes)) expect(decodeAll(chunks), name).to.deep.equal(payloads);
    });

  it("delivers a payload as soon as its last byte has arrived", () => {
    const payloads: string[] = [];
    const decoder = new wire.FrameDecoder((payload) => payloads.push(payload));
    decoder.push(utf8("000002a"));
    expect(payloads).to.deep.equal([]);
    decoder.push(utf8("b0000"));
    expect(payloads).to.deep.equal(["ab"]);
  });

  it("knows whether it is in the middle of a frame", () => {
    const decoder = new wire.FrameDecoder(() => {});
    const seen = [...utf8("000002ab")].map((byte) => {
      decoder.push(Uint8Array.of(byte));
      return decoder.isPartial;
    });
    expect(seen).to.deep.equal([true, true, true, true, true, true, true, false]);
  });

  it("copies its input, so that the sender can reuse the chunk", () => {
    const payloads: string[] = [];
    const decoder = new wire.FrameDecoder((payload) => payloads.push(payload));
    const chunk = utf8("000004ab");
    decoder.push(chunk);
    chunk.fill(0x7a);
    decoder.push(utf8("cd"));
    expect(payloads).to.deep.equal(["abcd"]);
  });

  it("reads the largest frame that a header can announce", () => {
    const payload = Buffer.alloc(0xffffff, "x");
    const chunks = [utf8("ffffff"), payload.subarray(0, 1000), payload.subarray(1000)];
    expect(decodeAll(chunks).map((text) => text.length)).to.deep.equal([0xffffff]);
  });

  it("refuses a frame over the limit as soon as it is announced", () => {
    const error = thrown("FRAME_TOO_LARGE", () => decodeAll([utf8("000005")], 4));
    expect(error.message).to.equal("A message of 5 bytes was announced; the limit is 4.");
    expect(decodeAll([utf8("000004abcd")], 4)).to.deep.equal(["abcd"]);
  });

  it("delivers the frames before a bad one", () => {
    for (const { name, chunks } of divisions(utf8("000001aHTTP/1.1 400"))) {
      const payloads: string[] = [];
      const decoder = new wire.FrameDecoder((payload) => payloads.push(payload));
      thrown("BAD_FRAME", () => chunks.map((chunk) => decoder.push(chunk)));
      expect(payloads, name).to.deep.equal(["a"]);
    }
  });

  const GARBAGE: readonly (readonly [start: string, says: RegExp])[] = [
    ["HTTP/1.1 400 Bad Request\r\n", /It looks like an HTTP server\.$/],
    ["SSH-2.0-OpenSSH_9.2\r\n", /It looks like an SSH server\.$/],
    ["220 mail.example.org ESMTP", /It looks like a mail or FTP server\.$/],
    ["-ERR unknown command", /It looks like a Redis server\.$/],
    ["\x15\x03\x01\x00\x02\x02\x46", /It looks like a TLS server\.$/],
    ["* (+ 1 2)\n3", /It looks like a Lisp listener that reads text\.$/],
    ["0x0005hello", /six hexadecimal digits\.$/],
    ["+00005hello", /six hexadecimal digits\.$/],
    [" 00005hello", /six hexadecimal digits\.$/],
    ["\0\0\0\u0005hello", /six hexadecimal digits\.$/],
  ];
  for (const [start, says] of GARBAGE)
    it(`refuses ${JSON.stringify(start)} and shows it, however the bytes arrive`, () => {
      for (const { name, chunks } of divisions(Buffer.from(start, "latin1"))) {
        const error = thrown("BAD_FRAME", () => decodeAll(chunks));
        expect(error.message, name).to.match(says);
        expect(error.details.received, name).to.equal(
          start.replace(/[^ -~]/g, ".").slice(0, error.details.received?.length),
        );
      }
    });

  it("continues after bytes that are not UTF-8", () => {
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
      const bytes = Buffer.concat([utf8(`00000${bad.length + 2}a`), Uint8Array.from(bad), utf8("b000002ok")]);
      for (const { name, chunks } of divisions(bytes)) {
        const [payload, next] = decodeAll(chunks);
        expect(payload, name).to.match(/^a\ufffd+b$/);
        expect(next, name).to.equal("ok");
      }
    }
  });
});

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
