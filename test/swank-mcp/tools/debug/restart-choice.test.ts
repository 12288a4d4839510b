import { expect } from "chai";
import { Refusal } from "swank-mcp";
import { chooseRestart, restartTaken } from "#swank-mcp/tools/invoke-restart.js";
import { debuggedStop } from "../../../support/mcp-debugged.js";
import { restarts, snapshot } from "../../../support/mcp-outcomes.js";

const STOP = debuggedStop(3, 1, {
  condition: snapshot({
    restarts: restarts("USE-VALUE - Use it.", "USE-VALUE - Use that.", " - Unnamed.", "ABORT - Leave."),
  }),
});

function chosen(wanted: number | string, values: readonly string[] = []): string {
  const choice = chooseRestart(STOP, wanted, values);
  switch (choice.kind) {
    case "restart":
      return `${choice.restart.index} ${choice.restart.description}`;
    case "restart-frame":
      return `restart ${choice.frame}`;
    case "return-from-frame":
      return `return ${choice.code} from ${choice.frame}`;
  }
}

describe("chooseRestart", () => {
  it("takes a number from 1", () => {
    expect([1, "2", 3, 4].map((wanted) => chosen(wanted))).to.deep.equal([
      "0 Use it.",
      "1 Use that.",
      "2 Unnamed.",
      "3 Leave.",
    ]);
  });

  it("chooses the innermost restart of a name, in any case and package", () => {
    for (const name of ["USE-VALUE", "use-value", ":use-value", "cl:use-value", "cl::Use-Value", " use-value "]) {
      expect(chosen(name), name).to.equal("0 Use it.");
    }
  });

  it("says which restart of several with one name it took", () => {
    const nested = debuggedStop(3, 1, {
      condition: snapshot({
        restarts: restarts(
          ...["AGAIN - Again.", "SKIP - Skip.", "AGAIN - Again.", "AGAIN - Other.", "Again - Mixed."],
          "ABORT - Leave.",
        ),
      }),
    });
    const taken = (wanted: number | string) => restartTaken(chooseRestart(nested, wanted, []));
    expect(taken("AGAIN")).to.equal("Invoked restart 1, the innermost AGAIN. Others of this name: 3-4.");
    expect(taken("again")).to.equal("Invoked restart 1, the innermost AGAIN. Others of this name: 3-5.");
    for (const clear of [1, "3", "SKIP", "Again", "abort"]) expect(taken(clear), String(clear)).to.equal(undefined);
  });

  it("lists names once in a refusal, and counts those left out", () => {
    const nested = debuggedStop(3, 1, {
      condition: snapshot({ restarts: restarts("A - 1.", "A - 2.", "B - 3.", "A - 4.", " - 5.", " - 6.") }),
    });
    expect(() => chooseRestart(nested, "NO", []))
      .to.throw(Refusal)
      .with.property("remedy")
      .that.matches(/^Choose one of: 1-2, 4 A, 3 B, 5-6 \(unnamed\)\. /);
    const many = Array.from({ length: 60 }, (_, index) => `R${index} - Leave.`);
    const crowded = debuggedStop(3, 1, { condition: snapshot({ restarts: restarts(...many) }) });
    expect(() => chooseRestart(crowded, "NO", []))
      .to.throw(Refusal)
      .with.property("remedy")
      .that.includes(", 40 R39, ... 15 more restarts, 56 R55, ");
  });

  it("prefers an exact name to a number and to another case", () => {
    const odd = debuggedStop(3, 1, {
      condition: snapshot({ restarts: restarts("FOO - Upper.", "fOO - Mixed.", "1 - One.", "a:b - Colon.") }),
    });
    for (const [wanted, index] of [
      ["fOO", 1],
      ["foo", 0],
      ["1", 2],
      [1, 0],
      ["a:b", 3],
      ["|fOO|", 0],
      [" 2 ", 1],
    ] as const) {
      expect(chooseRestart(odd, wanted, []), String(wanted)).to.deep.include({ restart: odd.restarts[index] });
    }
  });

  it("refuses a restart that does not exist", () => {
    for (const wanted of [0, 5, -1, "5", "RETRY", "restart-frames", "", " ", ":"]) {
      expect(() => chosen(wanted), String(wanted)).to.throw(Refusal, "There is no restart");
    }
  });

  it("chooses a frame's restart if the stop has none of that name", () => {
    expect(chosen("RESTART-FRAME", ["2"])).to.equal("restart 2");
    // A host's number.
    expect(chosen("RESTART-FRAME", ["2."])).to.equal("restart 2");
    expect(chosen("return-from-frame", ["2", "(list 1)"])).to.equal("return (list 1) from 2");
    for (const values of [[], ["x"], ["1", "2", "3"], ["(+ 1 1)", "2"]]) {
      expect(() => chosen("RETURN-FROM-FRAME", values)).to.throw(Refusal, "index of a frame");
    }
    const own = debuggedStop(3, 1, {
      condition: snapshot({ restarts: restarts("RESTART-FRAME - The program's own.") }),
    });
    expect(chooseRestart(own, "restart-frame", []).kind).to.equal("restart");
  });
});
