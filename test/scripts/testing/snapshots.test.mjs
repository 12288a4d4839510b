import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { normalized } from "../../dist/support/normalized.js";
import { Snapshots } from "../../dist/support/snapshots.js";

describe("Snapshots", () => {
  const TEXTS = { one: "a\n\n=> 1", "a name: of words": "", last: "line feed at the end\n" };
  let folder = "";
  let test = "";

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "snapshots-"));
    test = pathToFileURL(join(folder, "x.test.js")).href;
    const snapshots = new Snapshots(test, true);
    for (const [name, text] of Object.entries(TEXTS)) snapshots.match(name, text);
    snapshots.finish();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("compares with the texts that an update wrote", async () => {
    const snapshots = new Snapshots(test, false);
    for (const [name, text] of Object.entries(TEXTS)) snapshots.match(name, text);
    snapshots.finish();
    expect(await readFile(join(folder, "x.snapshots.txt"), "utf8")).to.match(
      /^=== one ===\na\n\n=> 1\n\n=== a name: of words ===\n/,
    );
  });

  it("fails for another text, a missing snapshot and an obsolete one", () => {
    const snapshots = new Snapshots(test, false);
    expect(() => snapshots.match("one", "b")).to.throw('snapshot "one"');
    expect(() => snapshots.match("two", "b")).to.throw('x.snapshots.txt has no snapshot "two"');
    expect(() => new Snapshots(test, false).finish()).to.throw("UPDATE_SNAPSHOTS=1");
  });

  it("removes obsolete snapshots in an update, but refuses two texts of one name", () => {
    const snapshots = new Snapshots(test, true);
    snapshots.match("one", "new");
    expect(() => snapshots.match("one", "newer")).to.throw('snapshot "one"');
    snapshots.finish();
    expect(() => new Snapshots(test, false).match("last", TEXTS.last)).to.throw("no snapshot");
  });
});

describe("normalized", () => {
  it("replaces what varies between runs", () => {
    const text = `thread 12/1, Thread 9, "thread":"7/2", pid 45, 127.0.0.1:41234, {1001ABCDE3}, ${join(tmpdir(), "x")}`;
    expect(normalized(text)).to.equal(
      'thread <n>/1, Thread <n>, "thread":"<n>/2", pid <n>, 127.0.0.1:<port>, {<address>}, <tmp>/x',
    );
  });
});
