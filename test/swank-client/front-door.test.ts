import { expect } from "chai";
import * as frontDoor from "swank-client";
import * as internal from "swank-client/internal";
import * as launching from "swank-client/launch";
import * as protocol from "swank-client/protocol";
import * as swank from "swank-client/swank";

const SEXP = ["NIL", "T", "decode", "keyword", "list", "print", "quote", "read", "symbol"];
const CLIENTS = [
  "EvaluationError",
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
  "findUnbalanced",
  "lisp",
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
    const others = [internal, launching, protocol, swank].flatMap((entry) => Object.keys(entry));
    const shared = others.filter((name) => name in frontDoor);
    expect(shared).to.deep.equal([]);
  });
});
