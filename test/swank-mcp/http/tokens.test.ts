import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "swank-mcp";
import { OptionError } from "#swank-mcp/base/option.js";
import { changeTokens, Tokens, tokenFileOf } from "#swank-mcp/http/tokens.js";

describe("Tokens", () => {
  let folder: string;
  let path: string;
  let tokens: Tokens;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tokens-"));
    path = join(folder, "deep/tokens.json");
    tokens = new Tokens(path);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("keeps hashes, in a file that only its user can read", () => {
    const token = tokens.add("alice");
    expect(readFileSync(path, "utf8")).to.include("alice").and.not.include(token.slice(-20));
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(tokens.find(token)).to.deep.include({ name: "alice" });
    expect(tokens.find(token.slice(0, -1))).to.equal(undefined);
    expect(tokens.find("")).to.equal(undefined);
  });

  it("makes different tokens, one of each name", () => {
    expect(tokens.add("alice")).not.to.equal(tokens.add("bob"));
    expect(() => tokens.add("bob")).to.throw("There is a token bob already");
    expect(tokens.all.map(({ name }) => name)).to.deep.equal(["alice", "bob"]);
  });

  it("makes a first token only once", () => {
    expect(tokens.addFirst()).to.match(/^swank_mcp_[\w-]{43}$/);
    expect(tokens.addFirst()).to.equal(undefined);
  });

  it("notices what another process does to the file", () => {
    const token = tokens.add("alice");
    const other = new Tokens(path);
    const key = other.find(token)?.key;
    tokens.remove("alice");
    expect(other.find(token)).to.equal(undefined);
    const again = tokens.add("alice");
    expect(other.find(again)?.key).to.be.a("string").and.not.equal(key);
    rmSync(path);
    expect(other.find(again)).to.equal(undefined);
  });

  it("uses no file that others can read or that is not one of tokens, and then knows no token", () => {
    const token = tokens.add("alice");
    chmodSync(path, 0o640);
    expect(() => tokens.find(token)).to.throw("chmod 600");
    chmodSync(path, 0o600);
    expect(tokens.find(token)).to.deep.include({ name: "alice" });
    writeFileSync(path, '{"tokens": [{"name": "x", "hash": "", "created": ""}]}');
    expect(() => tokens.find("")).to.throw("is not a file of tokens");
    const link = join(folder, "link.json");
    symlinkSync(path, link);
    expect(() => new Tokens(link).all).to.throw("cannot be read");
  });

  it("says of a path below a file why it cannot be read", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => new Tokens(join(folder, "file/tokens.json")).all).to.throw(OptionError, "cannot be read: ENOTDIR");
  });

  it("does what swank-mcp token says", () => {
    const act = (...args: readonly string[]) => {
      const { tokenAction } = readConfig(["token", ...args], {});
      return tokenAction === undefined ? "" : changeTokens(tokens, tokenAction);
    };
    expect(act("list")).to.include("There are no tokens");
    expect(tokens.find(act("add", "alice").trim())).to.deep.include({ name: "alice" });
    expect(act("list")).to.match(/^alice {2}\d{4}-/);
    expect(act("remove", "alice")).to.include("Removed the token alice");
    expect(() => act("remove", "alice")).to.throw("There is no token alice");
    for (const args of [[], ["add"], ["drop", "alice"], ["list", "all"], ["add", "a", "b"]])
      expect(() => act(...args), args.join(" ")).to.throw("token needs what to do");
    expect(() => act("add", "a/b")).to.throw("A token's name has 1 to 64");
  });

  it("are in the user's configuration folder by default", () => {
    const { tokenFile } = readConfig([], {});
    expect(tokenFileOf({ tokenFile }, { XDG_CONFIG_HOME: "/settings" })).to.equal(
      "/settings/swank-toolkit/tokens.json",
    );
    expect(tokenFileOf({ tokenFile: "/other" }, {})).to.equal("/other");
  });
});
