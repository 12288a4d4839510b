import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { connect, type LaunchedClient, type LaunchOptions, launch } from "swank-client";
import { findLisp, findSwank, loadInitFiles, shareImage } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { folders } from "./launching.js";
import { processGone, runScript } from "./processes.js";

/** Milliseconds for what a busy machine does in a moment. */
const SOON = 20_000;

describe("findLisp: ECL", () => {
  const { folder } = folders();

  it("is known by what it says of itself, whatever its executable is called", async () => {
    const script = join(await folder(), "my-lisp");
    const ecl = await findLisp({ lisp: "ecl" });
    expect(ecl).to.include({ implementation: "ECL", core: undefined, hasThreads: true });
    expect(basename(ecl.executable)).to.equal("ecl");
    expect(ecl.version).to.match(/^\d+\.\d+\.\d+/);
    await writeFile(script, `#!/bin/sh\nexec ${ecl.executable} "$@"\n`);
    await chmod(script, 0o755);
    expect(await findLisp({ lisp: script })).to.deep.equal({ ...ecl, executable: script });
    expect(await findLisp()).to.include({ implementation: "SBCL" });
  });

  it("reports how to install ECL if there is none", async () => {
    const error = await rejection(findLisp({ lisp: "ecl", env: { PATH: await folder() } }), "LISP_NOT_FOUND");
    expect(error.message).to.equal("There is no executable ecl.");
    expect(error.remedy).to.include("apt-get install ecl");
  });

  it("names the Lisps that can be launched when given another one", async () => {
    const script = join(await folder(), "clisp");
    await writeFile(script, "#!/bin/sh\necho 'GNU CLISP 2.49.93+ (2018-02-18)'\n");
    await chmod(script, 0o755);
    const error = await rejection(findLisp({ lisp: script }), "LISP_NOT_FOUND");
    expect(error.message).to.include("it is CLISP. Only SBCL and ECL can be launched.");
    expect(error.remedy).to.include("connect to its port");
  });
});

describe("launch: ECL", () => {
  const { folder } = folders();
  const clients: LaunchedClient[] = [];

  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  async function launchEcl(options: LaunchOptions = {}): Promise<LaunchedClient> {
    const client = await launch({ lisp: "ecl", timeout: SOON, ...options });
    clients.push(client);
    return client;
  }

  it("loads Swank, and connects", async () => {
    const client = await launchEcl();
    expect(client.image.how).to.equal("loaded");
    expect(client.info.pid).to.equal(client.image.pid);
    expect(client.info.implementation.type).to.equal("ECL");
    expect(client.notes).to.deep.equal([]);
    expect(await client.eval("(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("runs in the given folder, with the given environment, and writes nothing into the home folder", async () => {
    const [cwd, home, cacheDir] = [await realpath(await folder()), await folder(), await folder()];
    const client = await launchEcl({
      cwd,
      cacheDir,
      env: { PATH: process.env["PATH"], HOME: home, GREETING: "hello" },
    });
    const code =
      '(list (ext:getenv "GREETING") (namestring (ext:getcwd)) (load-time-value (compile nil (quote (lambda () 1)))))';
    expect((await client.eval(code))[0]).to.match(new RegExp(`^\\("hello" "${cwd}/" #<`));
    await client.close();
    expect(await readdir(home)).to.deep.equal([]);
    expect(await readdir(cwd)).to.deep.equal([]);
  });

  it("keeps what the process writes, line by line", async () => {
    let heard: (line: string) => void = () => undefined;
    const line = new Promise<string>((resolve) => {
      heard = resolve;
    });
    const client = await launchEcl({ onLog: (text) => heard(text) });
    await client.eval('(mp:process-run-function "printer" (lambda () (format t "naïve~%")))');
    expect(await line).to.equal("naïve");
    expect(client.image.outputTail).to.equal("naïve\n");
  });

  it("loads files of the user, and says which failed", async () => {
    const home = await folder();
    const [init, good, bad, none] = [".eclrc", "good.lisp", "bad.lisp", "none.lisp"].map((name) => join(home, name));
    await writeFile(init ?? "", "(defvar *greeting* 1)");
    await writeFile(good ?? "", '(format t "loading") (incf *greeting*)');
    await writeFile(bad ?? "", "(incf *greeting*) (/ 1 0)");
    const client = await launchEcl({ env: { ...process.env, HOME: home } });
    const load = [good, bad, none].flatMap((path) => path ?? []);
    const loaded = await client.run(loadInitFiles, { load });
    expect(loaded.map(({ path, status }) => [basename(path), status])).to.deep.equal([
      [".eclrc", "loaded"],
      ["good.lisp", "loaded"],
      ["bad.lisp", "failed"],
      ["none.lisp", "missing"],
    ]);
    expect(loaded[1]?.output).to.equal("loading");
    expect(loaded[2]?.error).to.include("Operation was (/ 1 0). [DIVISION-BY-ZERO]");
    expect(await client.eval("*greeting*")).to.deep.equal(["3"]);
    expect(await client.run(loadInitFiles, { noUserInit: true })).to.deep.equal([]);
  });

  it("refuses options that only SBCL has, and names them", async () => {
    const options = { useCore: true, dynamicSpaceSize: 512, runtimeSources: [], warmUp: [] };
    const error = await rejection(launchEcl(options), "INVALID_ARGUMENT");
    expect(error.message).to.match(
      /^Only SBCL can be launched with useCore, dynamicSpaceSize, runtimeSources, warmUp, and \S+ecl is ECL\.$/,
    );
    expect(await launchEcl({ useCore: false, buildInBackground: true })).to.have.property("isOpen", true);
  });

  it("says why it did not start: what Lisp printed, or that there is no Swank", async () => {
    const swank = await folder();
    await writeFile(join(swank, "swank-loader.lisp"), '(error "nothing here")');
    const error = await rejection(launchEcl({ swank }), "LAUNCH_FAILED");
    expect(error.message).to.include("exit code 1").and.include("Unhandled SIMPLE-ERROR: nothing here");
    await mkdir(join(swank, "empty"));
    await rejection(launchEcl({ swank: join(swank, "empty") }), "SWANK_NOT_FOUND");
    await rejection(launchEcl({ startTimeout: 1 }), "LAUNCH_FAILED");
    await rejection(launchEcl({ signal: AbortSignal.abort() }), "CANCELLED");
  });

  it("loads Swank from any folder whose files ECL can open, and names the character in others", async () => {
    const parent = await folder();
    const [good, bad] = [join(parent, 'a[b] "c'), join(parent, "a[b*")];
    await cp(await findSwank(), good, { recursive: true });
    expect(await (await launchEcl({ swank: good, cwd: good })).eval("1")).to.deep.equal(["1"]);
    await cp(good, bad, { recursive: true });
    const error = await rejection(launchEcl({ swank: bad }), "LAUNCH_FAILED");
    expect(error.message).to.include("a folder with * in its name").and.include(bad);
    expect(error.remedy).to.equal("Move Swank to a folder without *, ? and \\ in its name.");
  });

  describe("by ending", () => {
    for (const [form, code] of [
      ["(ext:quit)", 0],
      ["(ext:quit 3)", 3],
      ["(ext:exit 4)", 4],
      ['(progn (mp:process-run-function "busy" (lambda () (loop))) (ext:quit 5))', 5],
    ] as const)
      it(`reports exit code ${code} for ${form}`, async () => {
        const client = await launchEcl();
        const outcome = await client.evaluate(form).next({ timeout: SOON });
        expect(outcome).to.have.property("status", "lost");
        expect(await client.image.exited).to.deep.include({ code, signal: undefined });
        expect((await client.closed).message).to.include(`ended with exit code ${code}`);
      });

    it("reports the signal that killed it", async () => {
      const client = await launchEcl();
      process.kill(client.image.pid, "SIGKILL");
      expect((await client.closed).message).to.include("was killed by SIGKILL");
      expect((await client.image.exited).signal).to.equal("SIGKILL");
    });

    it("runs exit hooks and cleanup forms when the client closes, whatever runs", async () => {
      const client = await launchEcl();
      await client.eval('(push (lambda () (format t "hook~%")) si::*exit-hooks*)');
      const cleaning =
        '(mp:process-run-function "cleaning" (lambda () (unwind-protect (loop (sleep 0.01)) (format t "cleanup~%"))))';
      await client.eval(cleaning);
      await client.evaluate("(loop)").begun({ timeout: SOON });
      await client.close();
      const { code, outputTail } = await client.image.exited;
      expect(code).to.equal(0);
      expect(outputTail).to.equal("cleanup\nhook\n");
    });

    for (const form of ["(cl:+ 1 2)", "(cl:loop)", '(cl:error "stopped")', '(cl:loop (cl:print "more"))'])
      it(`comes with the end of a process that was killed, during ${form}`, async () => {
        const script = runScript("launch-and-hold", [await folder(), form], { launch: { lisp: "ecl" } });
        const { pid }: { pid: number } = JSON.parse(await script.firstLine);
        script.child.kill("SIGKILL");
        await processGone(pid);
      });
  });

  describe("shared with other clients", () => {
    let secretFolder: string;

    before(async () => {
      secretFolder = await mkdtemp(join(tmpdir(), "swank-secret-test-"));
      await writeFile(join(secretFolder, "secret"), "abc\n", { mode: 0o600 });
    });

    after(() => rm(secretFolder, { recursive: true }));

    it("serves those that know the secret, and is not disturbed by others", async () => {
      const client = await launchEcl();
      const shared = await client.run(shareImage, 0, join(secretFolder, "secret"));
      if (shared.status !== "shared") throw new Error(JSON.stringify(shared));
      const { port } = shared;
      await rejection(connect({ port, secret: "xyz", timeout: SOON }), "SECRET_REJECTED");
      const other = await connect({ port, secret: "abc", timeout: SOON });
      expect(await other.eval("(+ 1 2)")).to.deep.equal(["3"]);
      expect(await client.run(shareImage, port, undefined)).to.deep.equal({ status: "in-use" });
      await client.close();
      expect((await other.closed).code).to.equal("CONNECTION_LOST");
    });
  });
});
