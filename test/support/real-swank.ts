import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, readFile, rename, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findLisp, findSwank } from "swank-client/launch";

const run = promisify(execFile);

/** An SBCL of its own with a Swank server on a free port. */
export interface RealSwank {
  readonly port: number;
  readonly process: ChildProcess;
  /** Has a form evaluated by the image's main thread, as at its prompt. */
  type(form: string): void;
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts the SBCL and the Swank that would be launched, or those that the environment names in SBCL and SWANK. A machine without them
 * fails the tests.
 *
 * The image also ends by itself when this process does, because its standard input ends then.
 *
 * @param home - The home folder of the image's user, where Swank looks for `.slime-secret`; an empty one by default.
 * @param port - Where it listens; on a free port by default.
 * @param options - How it serves: further arguments of `swank:create-server`.
 */
export async function startRealSwank(
  home?: string,
  port = 0,
  options = ":style :spawn :dont-close t",
): Promise<RealSwank> {
  const { executable, core } = await swankCore();
  const child = spawn(
    executable,
    ["--core", core, "--noinform", "--no-sysinit", "--no-userinit", ...evals(serve(port, options))],
    {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, HOME: home ?? dirname(core) },
    },
  );
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  try {
    const type = (form: string) => void child.stdin.write(`${form}\n`);
    return { port: await announcedPort(child), process: child, type, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const serve = (port: number, options: string) => [
  `(format t "PORT ~d~%" (swank:create-server :port ${port} ${options}))`,
  "(finish-output)",
  "(loop for form = (read *standard-input* nil *standard-input*) until (eq form *standard-input*) do (eval form))",
  "(sb-ext:exit :code 0 :abort t)",
];

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

interface SwankCore {
  readonly executable: string;
  /** A core with Swank, of that SBCL. */
  readonly core: string;
}

let known: Promise<SwankCore> | undefined;

function swankCore(): Promise<SwankCore> {
  known ??= findCore();
  return known;
}

/** Loading Swank takes seconds, so it is done once per Swank and SBCL and kept as a core. */
async function findCore(): Promise<SwankCore> {
  const { executable, version } = await findLisp();
  const loader = join(await findSwank(), "swank-loader.lisp");
  const { mtimeMs } = await stat(loader);
  const identity = [executable, version, loader, mtimeMs, await readFile(loader, "utf8")].join("\n");
  const key = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  const core = join(tmpdir(), `swank-client-test-${key}`, "swank.core");
  const exists = await access(core).then(
    () => true,
    () => false,
  );
  if (!exists) await buildCore(executable, loader, core);
  return { executable, core };
}

async function buildCore(executable: string, loader: string, core: string): Promise<void> {
  await mkdir(dirname(core), { recursive: true });
  const draft = `${core}.${process.pid}`;
  const forms = [
    `(load ${JSON.stringify(loader)})`,
    "(swank-loader:init)",
    `(sb-ext:save-lisp-and-die ${JSON.stringify(draft)})`,
  ];
  await run(executable, ["--noinform", "--non-interactive", "--no-sysinit", "--no-userinit", ...evals(forms)], {
    env: { ...process.env, HOME: dirname(core) },
    maxBuffer: 64 * 1024 * 1024,
  });
  // Another run may have built it meanwhile; either is good.
  await rename(draft, core);
}
