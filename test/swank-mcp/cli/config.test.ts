import { expect } from "chai";
import { OptionError, readConfig } from "swank-mcp";
import { HOSTS } from "#swank-mcp/base/commands.js";
import { ALL_OPTIONS } from "#swank-mcp/base/config.js";
import { helpText } from "#swank-mcp/base/help.js";
import { environmentName } from "#swank-mcp/base/option.js";

function complaint(...args: string[]): string {
  try {
    readConfig(args, {});
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  throw new Error(`Nothing was wrong with ${args.join(" ")}`);
}

function environmentComplaint(environment: Record<string, string>): string {
  try {
    readConfig([], environment);
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  throw new Error("Nothing was wrong");
}

describe("readConfig", () => {
  it("launches an image by default, with a timeout of 30 s", () => {
    expect(readConfig([], {})).to.include({ command: "serve", attach: undefined, timeout: 30, onError: "stop" });
  });

  it("attaches to port 4005 if --attach has no value", () => {
    expect(readConfig(["--attach"], {}).attach).to.deep.equal({ host: "127.0.0.1", port: 4005 });
    expect(readConfig(["--attach", "--verbose"], {}).attach).to.deep.equal({ host: "127.0.0.1", port: 4005 });
    expect(readConfig(["--attach", "console"], {})).to.deep.include({
      command: "console",
      attach: { host: "127.0.0.1", port: 4005 },
    });
  });

  it("reads a port, a host and a port, and an IPv6 address in brackets", () => {
    expect(readConfig(["--attach", "4006"], {}).attach).to.deep.equal({ host: "127.0.0.1", port: 4006 });
    expect(readConfig(["--attach=lisp.example:4007"], {}).attach).to.deep.equal({ host: "lisp.example", port: 4007 });
    expect(readConfig(["--attach", "[::1]:4008"], {}).attach).to.deep.equal({ host: "::1", port: 4008 });
  });

  it("shows the form of an address", () => {
    for (const address of ["lisp.example", "0", "65536", "a:b:1", ":4005", "4005x"]) {
      expect(complaint("--attach", address)).to.equal(
        `--attach takes [HOST:]PORT, for example 4005 or 127.0.0.1:4005, not "${address}".`,
      );
    }
  });

  it("leaves the heap size to SBCL, or sets it in megabytes", () => {
    expect(readConfig([], {}).dynamicSpaceSize).to.equal(undefined);
    expect(readConfig(["--dynamic-space-size", "4096"], {}).dynamicSpaceSize).to.equal(4096);
    expect(complaint("--dynamic-space-size", "4GB")).to.equal(
      `--dynamic-space-size takes a whole number from 1 to 16777216, not "4GB". Default: SBCL's own.`,
    );
  });

  it("shares on a port or any free port, but never an attached image", () => {
    expect(readConfig([], {}).share).to.equal(undefined);
    expect(readConfig(["--share"], {}).share).to.equal(0);
    expect(readConfig(["--share", "4006"], {}).share).to.equal(4006);
    expect(readConfig([], { SWANK_MCP_SHARE: "4007" }).share).to.equal(4007);
    for (const port of ["65536", "x", "1.5"]) {
      expect(complaint("--share", port)).to.equal(
        `--share takes a port, for example 4006, or nothing for any free one, not "${port}".`,
      );
    }
    expect(complaint("--attach", "--share", "4006")).to.match(
      /^--share opens a port in an image that this server launches/,
    );
  });

  it("serves a page on a port or any free port, with all ways of serving", () => {
    expect(readConfig([], {}).page).to.equal(undefined);
    expect(readConfig(["--page"], {}).page).to.equal(0);
    expect(readConfig(["--page", "http"], {})).to.include({ page: 0, command: "http" });
    expect(readConfig(["console", "--page", "7788", "--page-read-only"], {})).to.include({
      page: 7788,
      pageReadOnly: true,
    });
    expect(readConfig([], { SWANK_MCP_PAGE: "7789", SWANK_MCP_PAGE_READ_ONLY: "1" })).to.include({
      page: 7789,
      pageReadOnly: true,
    });
    expect(complaint("--page", "x")).to.match(/^--page takes a port/);
    expect(complaint("--page-read-only")).to.equal("--page-read-only is about the page: write --page, too.");
    expect(complaint("check", "a.lisp", "--page")).to.equal("--page is no option of check, which serves nobody.");
  });

  it("serves a page alone beside an image, which must be named", () => {
    const attach = { host: "127.0.0.1", port: 4005 };
    expect(readConfig(["page", "--attach"], {})).to.deep.include({ command: "page", attach, page: 0 });
    expect(readConfig(["page", "--attach", "4005", "--page", "80"], {})).to.deep.include({ attach, page: 80 });
    expect(complaint("page")).to.match(
      /^page needs the port of the image's Swank: swank-mcp page --attach \[HOST:\]PORT\./,
    );
    expect(readConfig(["page", "--help"], {}).help).to.equal("short");
  });

  it("collects repeated files in order", () => {
    expect(readConfig(["--load", "a.lisp", "--load=b.lisp"], {}).load).to.deep.equal(["a.lisp", "b.lisp"]);
  });

  it("uses the last value of any other repeated option", () => {
    expect(readConfig(["--timeout", "5", "--timeout", "7.5"], {}).timeout).to.equal(7.5);
  });

  it("suggests the option that was meant", () => {
    expect(complaint("--atach", "4005")).to.equal("There is no option --atach: did you mean --attach?");
    expect(complaint("--zzzzzzzzzz")).to.equal("There is no option --zzzzzzzzzz; --help lists them.");
    expect(complaint("consloe")).to.equal('There is no command "consloe": did you mean console?');
  });

  it("refuses invalid values", () => {
    expect(complaint("--timeout", "soon")).to.equal(
      '--timeout takes a number from 0.1 to 86400, not "soon". Default: 30.',
    );
    expect(complaint("--max-stops", "0")).to.match(/^--max-stops takes a whole number from 1 to 100, not "0"/);
    expect(complaint("--max-stops", "1.5")).to.match(/^--max-stops takes a whole number from 1 to 100, not "1\.5"/);
    expect(complaint("--max-stops", "-1")).to.match(/^--max-stops takes a whole number from 1 to 100, not "-1"/);
    expect(complaint("--max-output=12000.5")).to.match(/^--max-output takes a whole number /);
    expect(complaint("--timeout", "-.5")).to.match(/^--timeout takes a number from 0\.1 to 86400, not "-\.5"/);
    expect(complaint("--on-error", "crash")).to.equal('--on-error takes stop or unwind, not "crash".');
    expect(complaint("--lisp")).to.equal("--lisp needs a value: --lisp COMMAND");
    expect(complaint("--lisp=")).to.equal("--lisp needs a value.");
    expect(complaint("--verbose=1")).to.equal("--verbose takes no value.");
    expect(complaint("serve", "serve")).to.equal('Unexpected argument "serve": only one command is allowed.');
  });
});

describe("readConfig with --read-only", () => {
  it("leaves the errors of an attached image to others, and nothing else differs", () => {
    const { readOnly, foreignErrors, entryArgs, ...others } = readConfig(["--attach", "--read-only"], {});
    expect(entryArgs).to.deep.equal(["--attach", "--read-only"]);
    expect({ readOnly, foreignErrors }).to.deep.equal({ readOnly: true, foreignErrors: "theirs" });
    expect(readConfig(["--attach"], {})).to.deep.include(others);
    expect(readConfig(["--read-only"], {}).foreignErrors).to.equal("auto");
    expect(readConfig(["--attach", "--read-only", "--foreign-errors", "theirs"], {}).foreignErrors).to.equal("theirs");
  });

  it("refuses to receive them", () => {
    const expected =
      /^--read-only leaves an attached image's errors to others:.* Leave out --foreign-errors, or write theirs\.$/;
    for (const choice of ["auto", "mine"]) {
      expect(complaint("--attach", "--read-only", "--foreign-errors", choice)).to.match(expected);
      expect(
        environmentComplaint({
          SWANK_MCP_ATTACH: "4005",
          SWANK_MCP_READ_ONLY: "1",
          SWANK_MCP_FOREIGN_ERRORS: choice,
        }),
      ).to.match(expected);
    }
  });
});

describe("readConfig for the console", () => {
  const CONSOLE = { command: "console", timeout: 86_400, approval: "off", stopMinutes: 1440, maxOutput: 1_000_000 };

  it("has defaults for a user at a terminal", () => {
    expect(readConfig(["console"], {})).to.include(CONSOLE);
  });

  it("lets options override these defaults", () => {
    const config = readConfig(["--timeout", "5", "console"], { SWANK_MCP_APPROVAL: "strict" });
    expect(config).to.include({ ...CONSOLE, timeout: 5, approval: "strict" });
  });

  it("documents these defaults", () => {
    expect(helpText("all")).to.match(/^ {2}--timeout SECONDS .* Default: 30; in the console 86400\.$/m);
  });
});

describe("readConfig for setup", () => {
  it("takes a client, and the options that the client is to give the server", () => {
    for (const host of HOSTS) expect(readConfig(["setup", host], {}).setupHost).to.equal(host);
    const args = ["setup", "cursor", "--attach", "--load", "/a/b.lisp", "--load=/c.lisp", "--dry-run", "--read-only"];
    expect(readConfig(args, {})).to.deep.include({
      command: "setup",
      setupHost: "cursor",
      dryRun: true,
      entryArgs: ["--attach", "--load=/a/b.lisp", "--load=/c.lisp", "--read-only"],
    });
  });

  it("refuses an unknown client, and options of other commands", () => {
    expect(complaint("setup")).to.match(/^setup needs a client: swank-mcp setup claude\|codex\|/);
    expect(complaint("setup", "cluade")).to.match(/Did you mean claude\?$/);
    expect(complaint("--dry-run")).to.match(/^--dry-run is for commands that write/);
    expect(complaint("setup", "claude", "--fix")).to.match(/^--fix is an option of check/);
  });
});

describe("readConfig with environment variables", () => {
  it("reads every option", () => {
    const environment = {
      SWANK_MCP_ATTACH: "4006",
      SWANK_MCP_LOAD: "a.lisp:b.lisp",
      SWANK_MCP_NO_USER_INIT: "1",
      SWANK_MCP_NO_CORE: "off",
      SWANK_MCP_ON_ERROR: "unwind",
    };
    expect(readConfig([], environment)).to.deep.include({
      attach: { host: "127.0.0.1", port: 4006 },
      load: ["a.lisp", "b.lisp"],
      noUserInit: true,
      noCore: false,
      onError: "unwind",
    });
  });

  it("prefers the command line, and ignores empty variables", () => {
    expect(readConfig(["--timeout", "5"], { SWANK_MCP_TIMEOUT: "6" }).timeout).to.equal(5);
    expect(readConfig([], { SWANK_MCP_TIMEOUT: "" }).timeout).to.equal(30);
  });

  it("names a wrong variable", () => {
    expect(environmentComplaint({ SWANK_MCP_TIMEOUT: "-1" })).to.match(/^SWANK_MCP_TIMEOUT takes a number/);
    expect(environmentComplaint({ SWANK_MCP_VERBOSE: "loud" })).to.match(/^SWANK_MCP_VERBOSE must be 1 or 0, not/);
  });
});

describe("helpText", () => {
  it("lists every option if asked for all", () => {
    for (const option of ALL_OPTIONS) expect(helpText("all")).to.include(`  ${option.flag}`);
    expect(readConfig(["--help", "all"], {}).help).to.equal("all");
    expect(complaint("--help=options")).to.equal('--help takes all, or nothing, not "options".');
  });

  it("fits a terminal of 24 lines with 80 columns otherwise", () => {
    const lines = helpText("short").trimEnd().split("\n");
    // The prompt needs a line, too.
    expect(lines.length).to.be.at.most(23);
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
    for (const args of [["--help"], ["-h"], ["--help", "setup"], ["setup", "--help"]])
      expect(readConfig(args, {}).help, args.join(" ")).to.equal("short");
  });

  it("gives each option its own variable", () => {
    expect(new Set(ALL_OPTIONS.map(environmentName)).size).to.equal(ALL_OPTIONS.length);
  });
});
