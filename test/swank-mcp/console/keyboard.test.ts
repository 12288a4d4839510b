import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { completionsFor } from "#swank-mcp/console/commands.js";
import { HISTORY_SIZE, HistoryFile, historyPath } from "#swank-mcp/console/read-entry.js";

describe("completionsFor", () => {
  const asked: string[] = [];
  const symbols = async (prefix: string) => {
    asked.push(prefix);
    return [`${prefix}-1`, `${prefix}-2`];
  };

  beforeEach(() => {
    asked.length = 0;
  });

  it("completes commands at the beginning of a line", async () => {
    expect(await completionsFor(",break", symbols)).to.deep.equal([["break", "breakpoints"], "break"]);
    expect(await completionsFor(" ,RESTARTS", symbols)).to.deep.equal([["restarts"], "RESTARTS"]);
    expect(asked).to.deep.equal([]);
  });

  it("completes the symbol being typed", async () => {
    const typed = ["(map", "(list 'map", "#'cl:map", "(a (b ,@(c:d", ",describe map", ":ke", '("x"y'];
    for (const line of typed) await completionsFor(line, symbols);
    expect(asked).to.deep.equal(["map", "map", "cl:map", "c:d", "map", ":ke", "y"]);
    expect(await completionsFor("(map", symbols)).to.deep.equal([["map-1", "map-2"], "map"]);
  });

  it("completes nothing without a prefix", async () => {
    expect(await completionsFor("(list ", symbols)).to.deep.equal([[], ""]);
    expect(asked).to.deep.equal([]);
  });
});

describe("HistoryFile", () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "history-"));
    path = historyPath({ XDG_STATE_HOME: folder });
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("is stored in the user's state folder", () => {
    expect(historyPath({ HOME: "/home/me" })).to.equal("/home/me/.local/state/swank-toolkit/console-history");
    expect(historyPath({ HOME: "/home/me", XDG_STATE_HOME: "/state" })).to.equal(
      "/state/swank-toolkit/console-history",
    );
  });

  it("keeps lines for the next run, the latest first, for this user only", async () => {
    const history = new HistoryFile(path);
    for (const line of ["(first)", "  ", "(second)"]) history.add(line);
    expect(new HistoryFile(path).load()).to.deep.equal(["(second)", "(first)"]);
    expect((await stat(path)).mode & 0o077).to.equal(0);
  });

  it("limits the number of lines", async () => {
    new HistoryFile(path).add("(first)");
    await writeFile(path, Array.from({ length: 3 * HISTORY_SIZE }, (_, index) => `${index}\n`).join(""));
    expect(new HistoryFile(path).load())
      .to.have.length(HISTORY_SIZE)
      .and.to.include(`${3 * HISTORY_SIZE - 1}`);
    expect((await readFile(path, "utf8")).split("\n")).to.have.length(HISTORY_SIZE + 1);
  });

  it("ignores a file that cannot be written", async () => {
    await writeFile(join(folder, "file"), "");
    const history = new HistoryFile(historyPath({ XDG_STATE_HOME: join(folder, "file") }));
    history.add("(lost)");
    expect(history.load()).to.deep.equal([]);
    await mkdir(path, { recursive: true });
    await chmod(path, 0o500);
    new HistoryFile(path).add("(lost)");
    expect(new HistoryFile(path).load()).to.deep.equal([]);
  });
});
