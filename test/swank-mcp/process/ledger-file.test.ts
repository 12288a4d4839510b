import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { LedgerFile } from "#swank-mcp/call/ledger.js";
import { ledgerLines } from "../../support/ledger.js";

/** Writes two lines; the second does not fit into the file. Prints how often a failure was reported. */
const LIMITED = `import { LedgerFile } from "#swank-mcp/call/ledger.js";
let reports = 0;
const file = new LedgerFile(process.argv[1], () => (reports += 1));
const line = (text) => ({ time: new Date().toISOString(), event: "end", server: process.pid, text });
file.append(line("fits"));
for (let n = 0; n < 3; n++) file.append(line("x".repeat(4000)));
console.log(reports);`;

describe("LedgerFile", () => {
  let folder: string;
  let path: string;
  const problems: string[] = [];
  const line = (call: number) => ({ time: new Date().toISOString(), event: "end", server: process.pid, call });
  const open = () => new LedgerFile(path, (problem) => problems.push(problem));

  beforeEach(async () => {
    problems.length = 0;
    folder = await mkdtemp(join(tmpdir(), "ledger-"));
    path = join(folder, "sub", "ledger.jsonl");
    await mkdir(join(folder, "sub"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("has each line at once, in a file that only the user can read", async () => {
    await writeFile(path, "", { mode: 0o644 });
    const file = open();
    file.append(line(1));
    expect(await ledgerLines(path)).to.have.length(1);
    file.append(line(2));
    open().append(line(3));
    expect((await ledgerLines(path)).map(({ call }) => call)).to.deep.equal([1, 2, 3]);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(problems).to.deep.equal([]);
  });

  it("reports a failure once, and says later how many lines are missing", async () => {
    const file = open();
    file.append(line(1));
    await rm(join(folder, "sub"), { recursive: true });
    for (const call of [2, 3, 4]) file.append(line(call));
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/ENOENT.* with --ledger\.$/);
    await mkdir(join(folder, "sub"));
    file.append(line(5));
    file.append(line(6));
    const lines = await ledgerLines(path);
    expect(lines.map(({ event, call }) => call ?? event)).to.deep.equal(["gap", 5, 6]);
    expect(lines[0]).to.include({ left_out: 3 });
    expect(problems).to.have.length(1);
  });

  it("goes on after a line that the disk took only in part", async () => {
    const command = `ulimit -f 2; exec ${JSON.stringify(process.execPath)} --input-type=module -e "$0" ${JSON.stringify(path)}`;
    const { stdout } = await promisify(execFile)("bash", ["-c", command, LIMITED]);
    expect(stdout.trim()).to.equal("1");
    open().append(line(7));
    const whole = await ledgerLines(path).catch((error: unknown) => error);
    expect(whole).to.be.instanceOf(SyntaxError);

    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines).to.have.length(3);
    expect(JSON.parse(lines[0] ?? "")).to.include({ text: "fits" });
    expect(JSON.parse(lines[2] ?? "")).to.include({ call: 7 });
  });

  it("adds no blank line while another process is writing its line", async () => {
    const writing = `printf '%s' '{"time":"2026-01-01T00:00:00.000Z",' >> "$0"; echo; sleep 0.03; printf '%s\\n' '"event":"end","server":1,"call":1}' >> "$0"`;
    const other = spawn("bash", ["-c", writing, path], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(other, "exit");
    await once(other.stdout, "data");
    open().append(line(2));
    await ended;
    expect((await ledgerLines(path)).map(({ call }) => call)).to.deep.equal([1, 2]);
  });

  it("does not follow a link, which any user can place in a shared folder", async () => {
    await symlink(join(folder, "elsewhere"), path);
    open().append(line(1));
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/is a symbolic link.*--ledger/);
  });
});
