import { expect } from "chai";
import { CATALOGUE, openSession, readConfig, type ToolServer } from "swank-mcp";
import { liveSwank } from "../../support/live-server.js";
import { callTool, closeServer, toolServer } from "../../support/mcp-server.js";

/** A value for each required argument of the tools on stops. */
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  frame: 0,
  code: "(+ 1 2)",
  object: "(+ 1 2)",
  restart: 1,
  mode: "into",
};

/** A function that stops in a frame with more variables than a report shows. */
const DEEP = `(defun deep (a) (let (${Array.from({ length: 30 }, (_, n) => `(v${n} (+ a ${n}))`).join(" ")})
  (error "~a" (list ${Array.from({ length: 30 }, (_, n) => `v${n}`).join(" ")}))))
(defun deeper (n) (if (zerop n) (deep 1) (1+ (deeper (1- n)))))
(deeper 40)`;

describe("tool catalogue", () => {
  const lisp = liveSwank();
  let tools: ToolServer;
  afterEach(() => closeServer(tools));

  function serve(...options: string[]): void {
    const args = ["--attach", String(lisp.port), ...options];
    tools = toolServer(
      openSession(readConfig(args, {}), () => {}),
      args,
    );
  }

  it("has no tool that changes a stopped program without confirmation under strict", async () => {
    serve("--approval", "strict");
    await callTool(tools, "evaluate-lisp", { code: '(cerror "Go on." "stopped")' });
    const changing = CATALOGUE.filter(({ effect }) => effect === "evaluates" || effect === "resumes")
      .map((tool) => tool.for(tools.agent.config))
      // an error is not stepped from at all
      .filter(({ name, inputSchema }) => name !== "debugger_step" && inputSchema.properties["thread"] !== undefined);
    expect(changing).to.have.length.above(3);
    for (const { name, inputSchema } of changing) {
      const needed = ["frame", ...(inputSchema.required ?? [])].filter((key) => key in inputSchema.properties);
      const args = Object.fromEntries(needed.map((key) => [key, ARGUMENTS[key]]));
      const { structured } = await callTool(tools, name, args);
      expect(structured, name).to.have.nested.property("error.data.type", "APPROVAL_DENIED");
    }
    expect(tools.agent.stops.live).to.have.length(1);
  });

  it("recommends no disabled tool in any answer", async () => {
    serve("--tools", "core");
    const answers = [
      await callTool(tools, "evaluate-lisp", { code: DEEP }),
      await callTool(tools, "describe-last-error"),
      await callTool(tools, "get-backtrace"),
      await callTool(tools, "lisp-status"),
      await callTool(tools, "evaluate-lisp", { code: "(defvar *long* (make-list 5000 :initial-element '(1 2 3)))" }),
      await callTool(tools, "describe-symbol", { name: "*long*" }),
      await callTool(tools, "reset-session"),
    ];
    expect(answers[0]?.blocks.join("\n")).to.include("... more locals").and.to.include("get-backtrace");
    const hidden = CATALOGUE.filter(({ family }) => family !== "core");
    for (const { name } of hidden) expect(JSON.stringify(answers)).not.to.include(name);
  });
});
