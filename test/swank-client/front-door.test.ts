import { expect } from "chai";
import * as frontDoor from "swank-client";
import * as launching from "swank-client/launch";
import * as protocol from "swank-client/protocol";

const SEXP = ["NIL", "T", "decode", "keyword", "list", "print", "quote", "read", "symbol"];
const CLIENTS = [
  "EvaluationError",
  "Inspector",
  "LaunchedClient",
  "LispError",
  "ReconnectingClient",
  "SwankClient",
  "SwankError",
  "connect",
  "connectLaunched",
  "launch",
];
const DATA = [
  "DEFINITION_KINDS",
  "ERROR_CODES",
  "calls",
  "findUnbalanced",
  "lispFunction",
  "outlineCode",
  "SourceText",
  "Sources",
];

describe("Entry points of swank-client", () => {
  it("swank-client exports these values and no others", () => {
    expect(Object.keys(frontDoor)).to.have.members([...SEXP, ...CLIENTS, ...DATA]);
  });

  it("the other entry points share no value with it", () => {
    const shared = [...Object.keys(launching), ...Object.keys(protocol)].filter((name) => name in frontDoor);
    expect(shared).to.deep.equal([]);
  });
});
