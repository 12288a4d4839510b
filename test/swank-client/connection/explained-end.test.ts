import { duplexPair } from "node:stream";
import { expect } from "chai";
import { read, SwankError } from "swank-client";
import { Connection, duplexTransport } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";

/** A promise, and the function that resolves it. */
function later<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A connection whose stream's end is explained when the test says so. */
function explained() {
  const [near, far] = duplexPair();
  const asked = later<undefined>();
  const answer = later<SwankError | undefined>();
  const explainEnd = () => {
    asked.resolve(undefined);
    return answer.promise;
  };
  return { connection: new Connection(duplexTransport(near, "memory", { explainEnd })), far, asked, answer };
}

describe("duplexTransport with explainEnd", () => {
  it("ends with the explanation, which pending requests get, too", async () => {
    const { connection, far, asked, answer } = explained();
    const request = rejection(connection.request(read("(cl:loop)"), { label: "loop" }), "CONNECTION_LOST");
    far.end();
    await asked.promise;
    expect(connection.isOpen).to.equal(true);
    answer.resolve(new SwankError("CONNECTION_LOST", "The power failed."));
    expect((await connection.closed).message).to.equal("The power failed.");
    expect((await request).message).to.equal("loop: The power failed.");
  });

  it("ends as without it if there is no explanation", async () => {
    const { connection, far, answer } = explained();
    far.end();
    answer.resolve(undefined);
    expect((await connection.closed).message).to.equal("memory closed the connection.");
  });

  it("waits for none after this side has closed the connection, before or meanwhile", async () => {
    const before = explained();
    await before.connection.close();
    expect((await before.connection.closed).code).to.equal("CONNECTION_CLOSED");
    const meanwhile = explained();
    meanwhile.far.end();
    await meanwhile.asked.promise;
    await meanwhile.connection.close();
    expect((await meanwhile.connection.closed).code).to.equal("CONNECTION_CLOSED");
  });
});
