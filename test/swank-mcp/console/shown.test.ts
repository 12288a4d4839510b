import { expect } from "chai";
import { answerText, consolePrompt, continuationPrompt, jsonText, LiveOutput, stopOf } from "swank-mcp";

describe("what the console shows", () => {
  it("is the text of an answer, its blocks apart", () => {
    expect(answerText({ blocks: ["=> 1", "A remark."], isError: false })).to.equal("=> 1\n\nA remark.");
  });

  it("is the words of a refusal, not its data", () => {
    const structured = { error: { code: -32000, message: "No.", data: { type: "T", next: "Ask." } } };
    expect(answerText({ blocks: ["No.\nAsk."], isError: true, structured })).to.equal("No.\nAsk.");
  });

  it("is values as they always look, where JSON holds them", () => {
    const answer = { blocks: ["{}", "A remark."], isError: false };
    expect(answerText({ ...answer, structured: { values: ["1", "2"], stdout: "out\n" } })).to.equal(
      "[stdout]\nout\n\n=> 1\n=> 2\n\nA remark.",
    );
    expect(answerText({ ...answer, structured: { values: [], stdout: "" } })).to.equal("; No values\n\nA remark.");
    expect(answerText({ ...answer, structured: { values: ["1"], values_left_out: 2, stdout: "" } })).to.include(
      "=> [1 of 3 values shown]",
    );
  });

  it("is a line for each fact, and a table for each list of things", () => {
    const rows = [
      { id: 1, name: "short", place: { file: "a.lisp", line: 2 }, parts: [{ is: "x", of: null }], none: [] },
      { id: 22, name: "a longer name", extra: true },
    ];
    expect(
      jsonText({
        rows,
        names: ["a", "b"],
        notes: ["One is.", "Two\nare."],
        empty: [],
        flat: { a: 1 },
        deep: { b: { c: [] } },
        gone: undefined,
      }),
    ).to.equal(
      `rows: id, name, extra
  1   short
    place: file a.lisp, line 2
    parts: is, of
      x  null
  22  a longer name  true
names: a, b
notes:
  One is.
  Two
  are.
empty: none
flat: a 1
deep:
  b:
    c: none`,
    );
  });

  it("is a prompt with the package, and the stop that commands are about", () => {
    expect(consolePrompt(undefined, undefined)).to.equal("> ");
    expect(consolePrompt("COMMON-LISP-USER", undefined)).to.equal("CL-USER> ");
    expect(consolePrompt("ZOO", "9/2")).to.equal("ZOO [9/2]> ");
    expect(continuationPrompt("ZOO [9/2]> ")).to.equal("       ... ");
  });

  it("is about the chosen thread as long as that is stopped, otherwise about the latest", () => {
    const place = { packageName: "ZOO", stops: ["9/2", "12/1"] };
    expect(stopOf(place, undefined)).to.equal("12/1");
    expect(stopOf(place, "9")).to.equal("9/2");
    expect(stopOf(place, "10")).to.equal("12/1");
    expect(stopOf(undefined, "9")).to.equal(undefined);
  });
});

describe("output as it comes", () => {
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

  it("makes up the report that the agent reads, each part once", () => {
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

  it("stays in the order in which it came", () => {
    const chunks = [
      ["a", "stdout"],
      ["b\n", "stderr"],
      ["c\n", "stdout"],
    ] as const;
    expect(shown(chunks, "[stdout]\nac\n\n[stderr]\nb\n\n=> 1")).to.equal(
      "[stdout]\na\n\n[stderr]\nb\n\n[stdout]\nc\n\n=> 1\n",
    );
  });

  it("is shown again where the report leaves some out, so that what is left out is said", () => {
    const report = "[stdout]\na [... 5 characters left out ...] b\n\n=> 1";
    expect(shown([["aaaaaab\n", "stdout"]], report)).to.equal(`[stdout]\naaaaaab\n\n${report}\n`);
  });

  it("does not take for output what only tells what is waited for", () => {
    expect(shown([["Waiting for the user."]], "=> 1")).to.equal("=> 1\n");
  });
});
