import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { defineTool, type ToolAnswer, type ToolServer, type ToolServerOptions, textAnswer } from "swank-mcp";
import * as z from "zod";
import type { CallEntry, CallRecorder } from "#swank-mcp/call/recorder.js";
import { toolServer } from "../../support/mcp-server.js";

const MANY = Array.from({ length: 5000 }, (_, index) => `value ${index}`);

/** A tool that prints, asks, tells of a wait, begins a background evaluation, and has more data than a client gets. */
const talks = defineTool({
  name: "talks",
  family: "core",
  effect: "sets-breakpoint",
  title: "Talks",
  description: "Talks.",
  input: () => z.strictObject({}),
  async plan(_args, { progress, recordOutput, recordEnd }) {
    progress("hello", "stdout");
    progress("Waiting.");
    return {
      request: { operation: ":eval", action: "do it", particulars: [["Code", "(f)"]] },
      act: async () => {
        void setImmediate().then(() => {
          recordOutput("later", "stderr");
          recordEnd(7, textAnswer("=> 1"), 1000);
        });
        return { ...textAnswer("done"), meta: { many: MANY } };
      },
    };
  },
});

function server(options: ToolServerOptions): ToolServer {
  return toolServer(() => Promise.reject(new Error("no Lisp here")), [], { catalogue: [talks], ...options });
}

async function call(tools: ToolServer, name = "talks"): Promise<{ answer: ToolAnswer; told: string[] }> {
  const told: string[] = [];
  const answer = await tools.call({
    name,
    args: {},
    signal: new AbortController().signal,
    progress: (text) => told.push(text),
    ask: async () => ({ kind: "chosen", choice: "Yes" }),
  });
  await setImmediate();
  return { answer, told };
}

/** Notes what it records. */
function recorder(): { readonly recorder: CallRecorder; readonly notes: unknown[] } {
  const notes: unknown[] = [];
  const note = (...what: unknown[]) => void notes.push(what);
  const entry: CallEntry = {
    output: (text, stream) => note("output", text, stream),
    asked(request, where) {
      note("asked", request.action, where);
      return (given) => note("answered", given?.how);
    },
    decided: (request, given) => note("decided", request.action, given.how),
    end: (given) => note("end", given.blocks, given.meta),
    ended: (id, report, milliseconds) => note("ended", id, report.blocks, milliseconds),
  };
  return {
    notes,
    recorder: {
      begin(begun) {
        note("begin", begun.name, begun.args);
        return entry;
      },
    },
  };
}

describe("CallRecorder", () => {
  it("learns of a call, its output, its questions, its whole answer, and the end of its background evaluation", async () => {
    const { recorder: given, notes } = recorder();
    const { answer, told } = await call(server({ recorders: [given] }));
    expect(notes).to.deep.equal([
      ["begin", "talks", {}],
      ["output", "hello", "stdout"],
      ["asked", "do it", "client"],
      ["answered", "Yes"],
      ["end", ["done"], { many: MANY }],
      ["output", "later", "stderr"],
      ["ended", 7, ["=> 1"], 1000],
    ]);
    expect(answer.meta?.["many"]).to.have.length.below(MANY.length);
    expect(told).to.deep.equal(["hello", "Waiting.", "Waiting for the user to allow this."]);
  });

  it("learns of refused calls, also of those that never run", async () => {
    const { recorder: given, notes } = recorder();
    const tools = server({ recorders: [given] });
    await call(tools, "unknown");
    tools.refuse({ name: "talks", args: { code: 1 } }, new Error("no"));
    expect(notes).to.have.lengthOf(4);
    expect(notes.map((note) => Array.isArray(note) && note[0])).to.deep.equal(["begin", "end", "begin", "end"]);
    expect(notes[2]).to.deep.equal(["begin", "talks", { code: 1 }]);
  });

  const fail = () => {
    throw new Error("broken recorder");
  };
  const broken: readonly [what: string, recorder: CallRecorder][] = [
    ["at the beginning", { begin: fail }],
    ["in every function", { begin: () => ({ output: fail, asked: fail, decided: fail, end: fail, ended: fail }) }],
    ["at an answer", { begin: () => ({ asked: () => fail, end: () => {} }) }],
  ];
  for (const [what, each] of broken)
    it(`changes nothing if it throws ${what}: the call and other recorders go on, and the defect is reported`, async () => {
      const { recorder: sound, notes } = recorder();
      const defects: unknown[] = [];
      const tools = server({ recorders: [each, sound], onDefect: (error) => defects.push(error) });
      const { answer } = await call(tools);
      expect(answer.blocks).to.deep.equal(["done"]);
      expect(notes).to.have.lengthOf(7);
      expect(new Set(defects.map(String))).to.deep.equal(new Set(["Error: broken recorder"]));
    });

  it("is not needed", async () => {
    const { answer, told } = await call(server({}));
    expect(answer.blocks).to.deep.equal(["done"]);
    expect(told[0]).to.equal("hello");
  });
});
