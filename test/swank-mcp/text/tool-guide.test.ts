import { expect } from "chai";
import { EVERY_TOOL, ToolGuide } from "#swank-mcp/base/answer.js";

const GUIDE = new ToolGuide(["debugger_frames", "breakpoint_set"]);

describe("ToolGuide", () => {
  it("removes the sentences that name a switched-off tool, and keeps the others", () => {
    expect(
      GUIDE.advise(
        "No thread is stopped. debugger_frames lists frames: use it! A break (breakpoint_set) stops. Go on.",
      ),
    ).to.equal("No thread is stopped. Go on.");
  });

  it("removes paragraphs without a sentence left", () => {
    expect(GUIDE.advise("One.\n\ndebugger_frames helps.\n\nTwo.")).to.equal("One.\n\nTwo.");
  });

  it("does not change a text that names no switched-off tool", () => {
    const text = "debugger_frames_x is none.  Two spaces.\nlisp-status tells, e.g. this";
    expect(GUIDE.advise(text)).to.equal(text);
    expect(EVERY_TOOL.advise("debugger_frames helps.")).to.equal("debugger_frames helps.");
  });

  it("puts the client's own names for tools", () => {
    const guide = new ToolGuide(["breakpoint_list"], new Map([["debugger_frames", ",frames"]]));
    expect(guide.advise("debugger_frames lists them. Use debugger_frames tool. debugger_frames_x stays.")).to.equal(
      ",frames lists them. Use ,frames. debugger_frames_x stays.",
    );
    expect(guide.advise("breakpoint_list lists them. debugger_frames helps.")).to.equal(",frames helps.");
    expect(guide.nameOf("debugger_frames")).to.equal(",frames");
    expect(guide.nameOf("lisp-status")).to.equal("lisp-status");
  });

  it("takes no function of a package for a tool", () => {
    const text = 'Load a project with (asdf:load-system "name").';
    expect(new ToolGuide(["load-system"]).advise(text)).to.equal(text);
    expect(new ToolGuide([], new Map([["load-system", ",load"]])).advise(text)).to.equal(text);
  });

  it("names no tool that the image cannot serve, from when it is known", () => {
    let unusable: readonly string[] = [];
    const guide = new ToolGuide(["breakpoint_list"], new Map(), () => unusable);
    expect(guide.advise("heap shows it. Go on.")).to.equal("heap shows it. Go on.");
    unusable = ["heap"];
    expect(guide.advise("heap shows it. Go on.")).to.equal("Go on.");
    expect(guide.offers("heap")).to.equal(false);
    expect(guide.advice("heap shows it.")).to.equal("The tools that would help here need what this Lisp cannot do.");
  });

  it("says why there is no advice", () => {
    expect(GUIDE.advice("debugger_frames lists them.")).to.equal(
      "The tools that would help here are switched off (--tools or --read-only).",
    );
    expect(GUIDE.advice("Call again.")).to.equal("Call again.");
  });
});
