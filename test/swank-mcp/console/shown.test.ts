import { expect } from "chai";
import { answerText, LiveOutput } from "#swank-mcp/console/console.js";
import { jsonText } from "#swank-mcp/console/json-text.js";
import { consolePrompt, continuationPrompt, stopOf } from "#swank-mcp/console/read-entry.js";
import { expectFacts } from "../../support/facts.js";

describe("answerText, consolePrompt and stopOf", () => {
  it("show the text of an answer, with its blocks separated", () => {
    expect(answerText({ blocks: ["=> 1", "A remark."], isError: false })).to.equal("=> 1\n\nA remark.");
  });

  it("show the text of a refusal, not its data", () => {
    const structured = { error: { code: -32000, message: "No.", data: { type: "T", next: "Ask." } } };
    expect(answerText({ blocks: ["No.\nAsk."], isError: true, structured })).to.equal("No.\nAsk.");
  });

  it("show the notices of a JSON answer below it", () => {
    const structured = { id: 1, notices: ["The image is new.", "A stop has ended."] };
    const blocks = [JSON.stringify(structured)];
    expect(answerText({ blocks, isError: false, structured })).to.equal(
      "id: 1\n\nThe image is new.\nA stop has ended.",
    );
  });

  it("show a line for each field, and a table for each list", () => {
    const rows = [
      { id: 1, name: "short", place: { file: "a.lisp", line: 2 }, parts: [{ is: "x", of: null }], none: [] },
      { id: 22, name: "a longer name", extra: true },
    ];
    const text = jsonText({
      rows,
      names: ["a", "b"],
      notes: ["One is.", "Two\nare."],
      empty: [],
      flat: { a: 1 },
      deep: { b: { c: [] } },
      gone: undefined,
    });
    expectFacts(
      text,
      "rows: id, name, extra\n  1   short\n    place: file a.lisp, line 2\n    parts: is, of\n      x  null\n  22  a longer name  true\n",
      "names: a, b\nnotes:\n  One is.\n  Two\n  are.\nempty: none\nflat: a 1\ndeep:\n  b:\n    c: none",
    );
  });

  it("show the package and the stop that commands act on", () => {
    expect(consolePrompt(undefined, undefined)).to.equal("> ");
    expect(consolePrompt("COMMON-LISP-USER", undefined)).to.equal("CL-USER> ");
    expect(consolePrompt("ZOO", "9/2")).to.equal("ZOO [9/2]> ");
    expect(continuationPrompt("ZOO [9/2]> ")).to.equal("       ... ");
  });

  it("choose the chosen thread while it is stopped, otherwise the latest stop", () => {
    const place = { packageName: "ZOO", stops: ["9/2", "12/1"] };
    expect(stopOf(place, undefined)).to.equal("12/1");
    expect(stopOf(place, "9")).to.equal("9/2");
    expect(stopOf(place, "10")).to.equal("12/1");
    expect(stopOf(undefined, "9")).to.equal(undefined);
  });
});

describe("LiveOutput", () => {
  /** What is shown when this was printed before an answer. */
  function shown(chunks: readonly (readonly [text: string, stream?: "stdout" | "stderr"])[], answer: string): string {
    let text = "";
    const output = new LiveOutput((written) => {
      text += written;
    });
    for (const [chunk, stream] of chunks) output.add(chunk, stream);
    output.finish(answer);
    return text;
  }

  it("completes the report that the agent reads, each part once", () => {
    const report = "[stdout]\na\nb\n\n[stderr]\nc\n\n=> 1";
    expect(
      shown(
        [
          ["a\n", "stdout"],
          ["b", "stdout"],
          ["c\n", "stderr"],
        ],
        report,
      ),
    ).to.equal(`${report}\n`);
    expect(shown([], report)).to.equal(`${report}\n`);
  });

  it("keeps the order of the output", () => {
    const chunks = [
      ["a", "stdout"],
      ["b\n", "stderr"],
      ["c\n", "stdout"],
    ] as const;
    expect(shown(chunks, "[stdout]\nac\n\n[stderr]\nb\n\n=> 1")).to.equal(
      "[stdout]\na\n\n[stderr]\nb\n\n[stdout]\nc\n\n=> 1\n",
    );
  });

  it("shows output again if the report cuts it, so that the cut is marked", () => {
    const report = "[stdout]\na [... 5 characters left out ...] b\n\n=> 1";
    expect(shown([["aaaaaab\n", "stdout"]], report)).to.equal(`[stdout]\naaaaaab\n\n${report}\n`);
  });

  it("adds nothing to output if the report has nothing else", () => {
    expect(shown([["a\nb\n", "stdout"]], "[stdout]\na\nb")).to.equal("[stdout]\na\nb\n");
    expect(shown([["a", "stdout"]], "[stdout]\na")).to.equal("[stdout]\na\n");
  });

  it("does not show progress texts as output", () => {
    expect(shown([["Waiting for the user."]], "=> 1")).to.equal("=> 1\n");
  });
});
