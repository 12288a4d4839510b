import { expect } from "chai";
import { COMMANDS, commandsText, usageText } from "#swank-mcp/console/commands.js";
import { readEntry } from "#swank-mcp/console/read-entry.js";

/** The tool call that a command makes. */
function callOf(typed: string): unknown {
  const entry = readEntry(typed);
  if (entry.kind !== "command" || entry.command.kind !== "tool") return entry;
  const { tool, args } = entry.command;
  return [tool, args({ ...entry.input, packageName: "ZOO" })];
}

function mistake(typed: string): string {
  const entry = readEntry(typed);
  return entry.kind === "mistake" ? entry.text : entry.kind;
}

describe("readEntry", () => {
  it("reads code unless a comma begins it", () => {
    expect(readEntry("(+ 1 2) x")).to.deep.equal({ kind: "code", code: "(+ 1 2) x" });
    expect(readEntry("`(1 ,x)")).to.deep.equal({ kind: "code", code: "`(1 ,x)" });
  });

  it("ignores text without a form", () => {
    for (const blank of ["", "  ", "; comment", "#| block |#"])
      expect(readEntry(blank)).to.deep.equal({ kind: "nothing" });
  });

  it("continues on the next line until the code is balanced", () => {
    for (const text of ["(list 1", '"text', "#| comment", "'", "(a\n\n"]) {
      expect(readEntry(text)).to.deep.equal({ kind: "unfinished", atEnd: { kind: "code", code: text } });
    }
    expect(readEntry(",in 1 (list")).to.include({ kind: "unfinished" });
  });

  it("passes code to Lisp that no further line can complete", () => {
    expect(readEntry("(list 1))")).to.deep.equal({ kind: "code", code: "(list 1))" });
  });

  const CALLS: readonly (readonly [typed: string, tool: string, args: unknown])[] = [
    [",error", "describe-last-error", {}],
    [",backtrace", "get-backtrace", { "max-frames": undefined }],
    [" , BACKTRACE 5 ", "get-backtrace", { "max-frames": "5" }],
    [",frames 2", "debugger_frames", { start: "2", end: undefined }],
    [",locals x", "debugger_frame_locals", { frame: "x" }],
    [",in 1 (list x) ; why", "debugger_eval_in_frame", { frame: "1", code: "(list x) ; why" }],
    [",in 1 (list\n x)", "debugger_eval_in_frame", { frame: "1", code: "(list\n x)" }],
    [",restart 2", "debugger_invoke_restart", { restart: "2", values: [] }],
    [
      ',restart use-value (+ 1 2) "a b" \'c',
      "debugger_invoke_restart",
      { restart: "use-value", values: ["(+ 1 2)", '"a b"', "'c"] },
    ],
    [",abort", "debugger_invoke_restart", { restart: "ABORT" }],
    [",continue", "debugger_continue", {}],
    [",over", "debugger_step", { mode: "over" }],
    [
      ",break (setf foo) (> (first args) 1)",
      "breakpoint_set",
      { function: "(setf foo)", condition: "(> (first args) 1)" },
    ],
    [",unbreak 3", "breakpoint_remove", { id: "3" }],
    [",describe |Odd Name|", "describe-symbol", { name: "|Odd Name|", package: "ZOO" }],
    [",search incf counter", "search-source", { pattern: "incf counter" }],
    [",search  (defun f ", "search-source", { pattern: "(defun f" }],
    [',search "a" ; b)', "search-source", { pattern: '"a" ; b)' }],
    [",apropos |", "apropos-search", { pattern: "|" }],
    [",compile my file.lisp", "compile-code", { file: "my file.lisp" }],
    [",load my file.lisp", "load-system", { file: "my file.lisp" }],
    [",load zoo", "load-system", { system: "zoo" }],
    [",changes it's.lisp", "list-changes", { file: "it's.lisp" }],
    [",update", "load-changes", { file: undefined }],
    [",save f", "save-changes", { name: "f", file: undefined, "dry-run": false }],
    [",definitions", "list-definitions", { type: undefined }],
  ];
  for (const [typed, tool, args] of CALLS)
    it(`calls ${tool} for ${JSON.stringify(typed)}`, () => expect(callOf(typed)).to.deep.equal([tool, args]));

  it("shows the usage of a misused command", () => {
    expect(mistake(",locals")).to.equal("Usage: ,locals n. Show the variables of frame n.");
    for (const typed of [
      ",search",
      ",search  ",
      ",load",
      ",locals 1 2",
      ",error 1",
      ",in 1",
      ",break",
      ",break f 1 2",
      ",unbreak 1)",
    ])
      expect(mistake(typed), typed).to.match(/^Usage: ,/);
  });

  it("reads what ,live shows: a command with or without its comma, or a form", () => {
    const live = (typed: string) => {
      const entry = readEntry(typed);
      if (entry.kind !== "live") return entry.kind;
      const { question, seconds, title } = entry;
      return [question.kind === "code" ? question.code : question.command.tool, seconds, title];
    };
    expect(live(",live threads")).to.deep.equal(["list-threads", 1, ",threads"]);
    expect(live(",live 0.5 ,inspect 12")).to.deep.equal(["inspect-object", 0.5, ",inspect 12"]);
    expect(live(",live 2 profile 1")).to.deep.equal(["profile-code", 2, ",profile 1"]);
    expect(live(",live (length *queue*)")).to.deep.equal(["(length *queue*)", 1, "(length *queue*)"]);
    expect(live(",live *queue*")).to.deep.equal(["*queue*", 1, "*queue*"]);
    expect(live(",live (list\n 1")).to.equal("unfinished");
    for (const typed of [",live", ",live 5", ",live ,help", ",live live threads", ",live inspect"])
      expect(mistake(typed), typed).to.match(/^Usage: ,/);
    expect(mistake(",live ,threds")).to.match(/Did you mean ,threads\?/);
  });

  it("names the unfinished form of a command at the end of the input, and the lines that it took", () => {
    const atEnd = (typed: string) => {
      const entry = readEntry(typed);
      return entry.kind === "unfinished" ? entry.atEnd : entry;
    };
    const why = "It has an open parenthesis, string or comment.";
    expect(atEnd(",expand (when a")).to.deep.equal({
      kind: "mistake",
      text: `Unfinished form: ,expand (when a\n${why} Close it.`,
    });
    expect(atEnd(",expand (when a\n(f)\n,status\n")).to.deep.equal({
      kind: "mistake",
      text: `Unfinished form: ,expand (when a\n${why} The 2 lines after it were read as part of it. Close it.`,
    });
    expect(atEnd(",in 1 (f\n2")).to.have.property("text").that.includes(" The line after it was read as part of it.");
  });

  it("suggests the command that was meant", () => {
    expect(mistake(",restrat 1")).to.equal(
      "There is no command ,restrat. Did you mean ,restart? ,help lists the commands.",
    );
    expect(mistake(",ab")).to.match(/Did you mean ,abort\?/);
    expect(mistake(",debugger_step")).to.match(/Did you mean ,into\?/);
    expect(mistake(",")).to.equal("There is no command ,. ,help lists the commands.");
    expect(mistake(",zzzzzzzz")).to.equal("There is no command ,zzzzzzzz. ,help lists the commands.");
  });

  it("names --tools for a command whose tool is switched off", () => {
    const offered = COMMANDS.filter(({ name }) => name !== "frames" && name !== "break");
    for (const [typed, family] of [
      [",frames", "debug"],
      [",break f", "breakpoints"],
    ] as const) {
      const [name] = typed.split(" ");
      expect(readEntry(typed, offered)).to.deep.equal({
        kind: "mistake",
        text: `${name} is switched off. To have it, add ${family} to --tools.`,
      });
    }
  });

  it("says in ,help that ,save writes at once, and names the command that shows the differences", () => {
    expect(commandsText()).to.match(
      /\n {2},save \[name \[file\]\] +Write definitions to their files at once; ,changes shows/,
    );
  });

  it("lists every command once in ,help", () => {
    for (const command of COMMANDS) expect(commandsText()).to.include(`\n  ${usageText(command)} `);
    expect(new Set(COMMANDS.map(({ name }) => name)).size).to.equal(COMMANDS.length);
  });
});
