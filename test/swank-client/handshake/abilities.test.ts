import { expect } from "chai";
import { connect } from "swank-client";
import { rejection } from "../../support/caught.js";
import { FakeSwank } from "../../support/fake-swank.js";
import { imageInfo } from "./fake-image.js";

/** A client of an image that describes itself so. The server answers nothing but the two requests of connecting. */
async function clientOf(type: string, style = ":spawn") {
  const server = await FakeSwank.listen();
  const connecting = connect({ port: server.port, secret: false });
  const peer = await server.accept();
  const first = await peer.nextRequest();
  const lisp = `(:type "${type}" :name "x" :version "1.0 (built here)" :program nil)`;
  peer.returnOk(first.id, imageInfo({ "lisp-implementation": lisp, style }));
  const second = await peer.nextRequest();
  peer.returnOk(second.id, "(:ok 0)");
  const client = await connecting;
  const close = async () => {
    await client.close();
    await server.close();
  };
  return { client, [Symbol.asyncDispose]: close };
}

describe("SwankClient.abilities", () => {
  it("has everything for SBCL", async () => {
    await using given = await clientOf("SBCL");
    expect(given.client.abilities.missing).to.deep.equal([]);
  });

  it("lacks for ECL what its Swank cannot do, and names the implementation without where it was built", async () => {
    await using given = await clientOf("ECL");
    const { implementation, missing } = given.client.abilities;
    expect(implementation).to.equal("ECL 1.0");
    expect(missing).to.deep.equal(["restart-frame", "return-from-frame", "stepping", "xref", "inspect", "runtime"]);
  });

  it("has no threads and no interrupts for a Lisp whose server has no threads", async () => {
    await using given = await clientOf("ECL", "nil");
    expect(given.client.abilities.missing).to.include.members(["threads", "interrupt"]);
  });

  it("has the least for a Lisp that was never tried", async () => {
    await using given = await clientOf("Some Lisp");
    expect(given.client.abilities.has("evaluate")).to.equal(true);
    expect(given.client.abilities.has("locals")).to.equal(false);
  });

  it("refuses an operation that needs a missing one without asking the image, and says what works instead", async () => {
    await using given = await clientOf("ECL");
    const error = await rejection(given.client.breakpoints.set("f"), "NOT_SUPPORTED");
    expect(error.details).to.include({ ability: "runtime", implementation: "ECL 1.0" });
    expect(error.message).to.equal("setting a breakpoint: ECL 1.0 cannot do this (runtime).");
    expect(error.remedy).to.include("use SBCL");
  });
});
