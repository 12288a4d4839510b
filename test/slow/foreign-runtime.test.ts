import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { connect } from "swank-client";
import { swankCore } from "../support/real-swank.js";

/** A user who owns nothing here. */
const NOBODY = 65_534;

/** Serves, and notes how the runtime is loaded, as a list of the kinds of what LOAD is called with. */
const SERVE = `(progn
  (defvar *loaded* '())
  (sb-int:encapsulate 'load 'note
    (lambda (load source &rest options)
      (pushnew (typecase source (string-stream :texts) (stream :compiled) (t :compiling)) *loaded*)
      (apply load source options)))
  (format t "PORT ~d~%" (swank:create-server :port 0 :style :spawn :dont-close t))
  (finish-output)
  (loop (sleep 1)))`;

describe("Runtime in an image of another user or with other files, as root", function () {
  this.timeout(240_000);
  let folder: string;
  let cacheDir: string;

  before(async () => {
    if (process.getuid?.() !== 0) throw new Error("An image can be run as another user by root only.");
    folder = await mkdtemp(join(await realpath(tmpdir()), "foreign-runtime-"));
    await chmod(folder, 0o755);
    cacheDir = join(folder, "cache");
    await mkdir(cacheDir, { mode: 0o700 });
  });
  after(() => rm(folder, { recursive: true }));

  /** How the runtime is loaded into an image that a program starts. */
  async function loadedWith(wrap: (command: readonly string[]) => readonly string[], uid = 0): Promise<string> {
    const { executable, core } = await swankCore();
    // The other user cannot enter root's folders.
    const open = join(folder, "swank.core");
    await cp(core, open);
    await chmod(open, 0o644);
    const lisp = [executable, "--core", open, "--noinform", "--no-sysinit", "--no-userinit", "--eval", SERVE];
    const [program = "", ...args] = wrap(lisp);
    const child = spawn(program, args, {
      uid,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, HOME: folder },
    });
    try {
      const port = await announced(child.stdout);
      const client = await connect({ port, cacheDir, secret: false, timeout: 60_000 });
      const outcome = await client.evaluate("cl-user::*loaded*").next();
      await client.close();
      return outcome.status === "returned" ? outcome.values.join() : outcome.status;
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }

  async function announced(output: NodeJS.ReadableStream): Promise<number> {
    for await (const line of createInterface({ input: output })) {
      const port = /^PORT (\d+)/.exec(line)?.[1];
      if (port !== undefined) return Number(port);
    }
    throw new Error("The image ended before it served.");
  }

  const plain = (command: readonly string[]) => command;

  it("comes from the cache in this user's image only", async () => {
    expect(await loadedWith(plain)).to.equal("(:COMPILING)");
    expect(await loadedWith(plain)).to.equal("(:COMPILED)");
    expect(await loadedWith(plain, NOBODY)).to.equal("(:TEXTS)");
    expect(await readdir(join(cacheDir, "runtime"))).to.have.lengthOf(1);
  });

  it("comes from its texts where another folder has the cache's name", async () => {
    const hidden = (command: readonly string[]) => [
      "unshare",
      "--mount",
      "sh",
      "-c",
      'mount -t tmpfs none "$0" && exec "$@"',
      cacheDir,
      ...command,
    ];
    expect(await loadedWith(hidden)).to.equal("(:TEXTS)");
    // The same before anything is in the cache.
    await rm(join(cacheDir, "runtime"), { recursive: true });
    expect(await loadedWith(hidden)).to.equal("(:TEXTS)");
    expect((await readdir(join(cacheDir, "runtime"))).filter((name) => name.startsWith("module"))).to.deep.equal([]);
  });
});
