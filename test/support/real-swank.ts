import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, readFile, rename, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const LOADER = process.env["SWANK_LOADER"] ?? "/usr/share/common-lisp/source/slime/swank-loader.lisp";

/** An SBCL of its own with a Swank server on a free port. */
export interface RealSwank {
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts SBCL with Debian's Swank, or that of SWANK_LOADER. A machine without them fails the tests.
 *
 * The image also ends by itself when this process does, because its standard input ends then.
 *
 * @param home - The home folder of the image's user, where Swank looks for `.slime-secret`; an empty one by default.
 * @param port - Where it listens; on a free port by default.
 */
export async function startRealSwank(home?: string, port = 0): Promise<RealSwank> {
  const core = await swankCore();
  const child = spawn("sbcl", ["--core", core, "--noinform", "--no-sysinit", "--no-userinit", ...evals(serve(port))], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, HOME: home ?? dirname(core) },
  });
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  try {
    return { port: await announcedPort(child), process: child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const serve = (port: number) => [
  `(format t "PORT ~d~%" (swank:create-server :port ${port} :style :spawn :dont-close t))`,
  "(finish-output)",
  "(loop while (read-line *standard-input* nil))",
  "(sb-ext:exit :code 0 :abort t)",
];

const BUILD = [`(load ${JSON.stringify(LOADER)})`, "(swank-loader:init)"];

function evals(forms: readonly string[]): string[] {
  return forms.flatMap((form) => ["--eval", form]);
}

async function announcedPort({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("The image was started without a pipe for its output.");
  let output = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const port = /PORT (\d+)/.exec(output)?.[1];
    if (port === undefined) continue;
    // What it prints from now on is nobody's business, but must not fill the pipe.
    stdout.resume();
    return Number(port);
  }
  throw new Error(`SBCL ended before its Swank server was up: ${output}`);
}

/** Loading Swank takes seconds, so it is done once per Swank and SBCL and kept as a core. */
async function swankCore(): Promise<string> {
  const { stdout: version } = await run("sbcl", ["--version"]);
  const loader = await readFile(LOADER);
  const { mtimeMs } = await stat(LOADER);
  const key = createHash("sha256").update(`${version}${LOADER}${mtimeMs}`).update(loader).digest("hex").slice(0, 16);
  const core = join(tmpdir(), `swank-client-test-${key}`, "swank.core");
  const exists = await access(core).then(
    () => true,
    () => false,
  );
  return exists ? core : buildCore(core);
}

async function buildCore(core: string): Promise<string> {
  await mkdir(dirname(core), { recursive: true });
  const draft = `${core}.${process.pid}`;
  const save = `(sb-ext:save-lisp-and-die ${JSON.stringify(draft)})`;
  await run("sbcl", ["--noinform", "--non-interactive", "--no-sysinit", "--no-userinit", ...evals([...BUILD, save])], {
    env: { ...process.env, HOME: dirname(core) },
    maxBuffer: 64 * 1024 * 1024,
  });
  // Another run may have built it meanwhile; either is good.
  await rename(draft, core);
  return core;
}
