import { expect } from "chai";
import { isList, print, read } from "sexp-parser";
import { connect } from "swank-client";
import { rejection } from "../../support/caught.js";
import { FakeSwank } from "../../support/fake-swank.js";
import { liveImage } from "../live/live-image.js";
import { imageInfo } from "./fake-image.js";

const PLAIN = "(swank:connection-info)";
const KAWA = imageInfo({ "lisp-implementation": '(:type "Kawa" :name "kawa" :version "2.0" :program nil)' });

describe("connect to a server that does not understand the first request", () => {
  for (const refusal of ["reader-error", "abort"]) {
    it(`asks again with nothing but connection-info after ${refusal}, and says which Lisp it is`, async () => {
      const server = await FakeSwank.listen();
      const refused = rejection(connect({ port: server.port, secret: false }), "UNSUPPORTED_LISP");
      const peer = await server.accept();
      const { id, text, form } = await peer.nextRequest();
      expect(form).to.not.equal(PLAIN);
      if (refusal === "abort") peer.returnAbort(id, "unbound cl:progn");
      else peer.send(`(:reader-error ${print(text)} "no package CL")`);
      const second = await peer.nextRequest(PLAIN);
      peer.returnOk(second.id, KAWA);
      expect((await refused).message).to.include("Kawa");
      await server.close();
    });
  }
});

describe("the first request of connect", () => {
  const image = liveImage();

  /** The part of the request that switches the indentation rules off. */
  async function preparation(): Promise<string> {
    const server = await FakeSwank.listen();
    const refused = rejection(connect({ port: server.port, secret: false }), "UNSUPPORTED_LISP");
    const peer = await server.accept();
    const { id, form } = await peer.nextRequest();
    peer.returnOk(id, KAWA);
    await refused;
    await server.close();
    const datum = read(form);
    if (!isList(datum) || datum[1] === undefined) throw new Error(`An unexpected request: ${form}`);
    return print(datum[1]);
  }

  it("signals no error in a thread that serves no connection of Swank, such as one of Slynk", async () => {
    const form = await preparation();
    expect(await image.ask(`(cl:let ((swank::*emacs-connection* cl:nil)) ${form})`)).to.equal("NIL");
    expect(await image.ask(`(cl:consp ${form})`)).to.equal("T");
  });
});
