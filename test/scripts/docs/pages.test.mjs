import { expect } from "chai";
import { commandRow, errors, optionRow, toolSection } from "../../../scripts/docs/generated.mjs";
import { code, prose, table } from "../../../scripts/docs/markdown.mjs";
import { filled } from "../../../scripts/docs/pages.mjs";

describe("the generated pages", () => {
  it("show a snippet below its name, also before the page has any code", async () => {
    const name = "<!-- snippet library#threads -->";
    const page = await filled(`Before.\n\n${name}\n\nAfter.`);
    expect(page).to.match(
      /^Before\.\n\n<!-- snippet library#threads -->\n\n```ts\nconst \[sleeper\] [\s\S]*\n```\n\nAfter\.$/,
    );
    expect(await filled(page)).to.equal(page);
  });

  it("replace a generated part, and keep the text around it", async () => {
    const part = (/** @type {string} */ text) =>
      `Before.\n\n<!-- generated options -->\n${text}\n<!-- end of generated -->\n\nAfter.`;
    const page = await filled(part("old"));
    expect(page).to.match(/^Before\.\n\n<!-- generated options -->\n\n\| option \|/);
    expect(page).to.match(/ \|\n\n<!-- end of generated -->\n\nAfter\.$/);
    expect(await filled(page)).to.equal(page);
    const unknown = filled(part("old").replace("options", "optoins")).catch((error) => error.message);
    expect(await unknown).to.match(/^Nothing generates optoins\. These are generated: options, /);
  });

  it("refuse code that is no snippet", async () => {
    expect(await filled("```ts\nlet a;\n```\n").catch((error) => error.message)).to.include("<!-- snippet NAME -->");
  });

  it("keep bars and line ends of a cell from breaking the table", () => {
    expect(table(["a", "b"], [["x|y", "one\n  two"]])).to.equal("| a | b |\n| --- | --- |\n| x\\|y | one two |");
  });

  it("show Lisp's own backquotes in code", () => {
    expect(code("`(a ,b)")).to.equal("`` `(a ,b) ``");
  });

  it("escape text that Markdown would interpret", () => {
    expect(prose('write \\" in *package* or #<...>')).to.equal('write \\\\" in \\*package\\* or #\\<...>');
  });

  it("list errors with meaning and remedy", () => {
    expect(errors({ GONE: { meaning: "It is gone.", remedy: "Fetch it." } })).to.equal(
      "| code | meaning | remedy |\n| --- | --- | --- |\n| `GONE` | It is gone. | Fetch it. |",
    );
  });

  it("list options with value and default", () => {
    const port = {
      flag: "--share",
      placeholder: "PORT",
      valueOptional: true,
      summary: "Share it.",
      fallback: "no port",
    };
    expect(optionRow(port, "SHARE")).to.deep.equal(["`--share [PORT]`", "`SHARE`", "Share it.", "no port"]);
    expect(optionRow({ flag: "--help", summary: "Help." }, "HELP")).to.deep.equal(["`--help`", "`HELP`", "Help.", ""]);
  });

  it("list the console's commands with their tools", () => {
    const command = { name: "locals", usage: "n", summary: "The variables of frame n.", tool: "debugger_frame_locals" };
    expect(commandRow(command)).to.deep.equal(["`,locals n`", "The variables of frame n.", "`debugger_frame_locals`"]);
    expect(commandRow({ name: "quit", usage: "", summary: "Leave." })).to.deep.equal(["`,quit`", "Leave.", ""]);
  });

  it("list a tool's arguments with type, bounds and default", () => {
    const section = toolSection({
      name: "t",
      title: "Try",
      description: "Tries.",
      inputSchema: {
        properties: {
          code: { type: "string", description: "What to try." },
          times: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "How often." },
          mode: { type: "string", enum: ["into", "over"] },
        },
        required: ["code"],
      },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(section.split("\n\n")).to.deep.equal([
      "## t",
      "**Try.** Tries.",
      [
        "| argument | type | default | meaning |",
        "| --- | --- | --- | --- |",
        "| `code` | string | required | What to try. |",
        "| `times` | integer, at least 1, at most 9 | `3` | How often. |",
        "| `mode` | `into`, `over` |  |  |",
      ].join("\n"),
      "Hints: `readOnlyHint`.",
    ]);
  });
});
