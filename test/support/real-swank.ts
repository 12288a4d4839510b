import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { access, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findLisp, findSwank } from "swank-client/launch";
import { testCache } from "./test-cache.js";
import { forUsualServer, type ServerName, slySources, USUAL_SERVER } from "./usual-server.js";

const run = promisify(execFile);

/** A new SBCL process with a Swank server. */
export interface RealSwank {
  readonly port: number;
  readonly process: ChildProcess;
  /** Evaluates a form in the image's main thread, as at its prompt. Names of Swank are those of the usual server. */
  type(form: string): void;
  /** Patterns of the faults that tests provoke in the runtime. */
  readonly expectedFaults: RegExp[];
  /** Kills the image and waits until it has ended. Fails if the runtime has recorded a fault that is not expected. */
  stop(): Promise<void>;
}

/**
 * Starts the SBCL and the Swank that a launch would use, or those named by the environment variables SBCL and SWANK. Fails the tests if one
 * is missing.
 *
 * The image also ends with this process, because its standard input ends then.
 *
 * @param home - The home folder of the image's user, where Swank looks for `.slime-secret`; an empty one by default.
 * @param port - The port to listen on; a free port by default.
 * @param options - Further arguments of `swank:create-server`.
 * @param server - Which server; Slynk needs `SLY_SOURCES`.
 */
export async function startRealSwank(
  home?: string,
  port = 0,
  options = ":style :spawn :dont-close t",
  server = USUAL_SERVER,
): Promise<RealSwank> {
  const { executable, core } = await swankCore(server);
  const child = spawn(
    executable,
    ["--core", core, "--noinform", "--no-sysinit", "--no-userinit", ...evals(serve(server, port, options))],
    {
      stdio: "pipe",
      env: { ...process.env, HOME: home ?? dirname(core) },
    },
  );
  const exited = once(child, "exit");
  tellLastWords(child);
  const type = (form: string) => void child.stdin.write(`${forUsualServer(form)}\n`);
  const expectedFaults: RegExp[] = [];
  const stop = async () => {
    const faults = await recordedFaults(child, type);
    child.kill("SIGKILL");
    await exited;
    checkFaults(faults, expectedFaults);
  };
  try {
    return { port: await announcedPort(child), process: child, type, expectedFaults, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Prints what an image that SBCL ends because of an error has said last. */
function tellLastWords(child: ChildProcess): void {
  let words = "";
  child.stderr?.setEncoding("latin1").on("data", (text: string) => {
    words = (words + text).slice(-4000);
  });
  child.once("close", () => {
    if (/fatal error|[Hh]eap exhausted/.test(words)) process.stdout.write(`An image has ended by itself:\n${words}\n`);
  });
}

const serve = (server: ServerName, port: number, options: string) => [
  `(format t "PORT ~d~%" (${server}:create-server :port ${port} ${options}))`,
  "(finish-output)",
  "(loop for form = (read *standard-input* nil *standard-input*) until (eq form *standard-input*) do (eval form))",
  "(sb-ext:exit :code 0 :abort t)",
];

/** Milliseconds that an image has to list its faults. One that hangs lists none. */
const LISTING_TIME = 2000;

/** Prints the faults that each version of the runtime has recorded, one on a line. */
const LIST_FAULTS = `(with-standard-io-syntax
  (dolist (package (list-all-packages))
    (let ((faults (and (eql 0 (search "SWANK-CLIENT/SBCL-FAULTS" (package-name package))) (find-symbol "*FAULTS*" package))))
      (dolist (fault (and faults (symbol-value faults)))
        (format sb-sys:*stdout* "~&FAULT ~a~%" (substitute #\\Space #\\Newline (write-to-string fault :readably nil))))))
  (format sb-sys:*stdout* "~&END OF FAULTS~%")
  (finish-output sb-sys:*stdout*))`;

async function recordedFaults(child: ChildProcess, type: (form: string) => void): Promise<readonly string[]> {
  const { stdout } = child;
  if (stdout === null || child.exitCode !== null || child.signalCode !== null) return [];
  let output = "";
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LISTING_TIME);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    stdout.on("data", (chunk) => {
      output += String(chunk);
      if (/^END OF FAULTS$/m.test(output)) done();
    });
    stdout.once("end", done);
    child.stdin?.once("error", done);
    type(LIST_FAULTS);
  });
  return [...output.matchAll(/^FAULT (.*)$/gm)].map(([, fault = ""]) => fault);
}

/** Fails if there is a fault that matches none of the patterns. */
export function checkFaults(faults: readonly string[], expected: readonly RegExp[]): void {
  const unexpected = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
  if (unexpected.length > 0) throw new Error(`The runtime recorded faults:\n${unexpected.join("\n")}`);
}

function evals(forms: readonly string[]): string[] {
  return forms.flatMap((form) => ["--eval", form]);
}

function announcedPort({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("The image was started without a pipe for its output.");
  let output = "";
  return new Promise((resolve, reject) => {
    // Later output is ignored, but it must not fill the pipe.
    stdout.on("data", (chunk) => {
      if (output.length < 10_000) output += String(chunk);
      const port = /PORT (\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    stdout.once("end", () => reject(new Error(`SBCL ended before its Swank server was up: ${output}`)));
  });
}

interface SwankCore {
  readonly executable: string;
  /** A core of that SBCL with Swank. */
  readonly core: string;
}

const known = new Map<ServerName, Promise<SwankCore>>();

/** Returns the SBCL that a launch would use, and a core of it with Swank or Slynk. */
export function swankCore(server = USUAL_SERVER): Promise<SwankCore> {
  const core = known.get(server) ?? findCore(server);
  known.set(server, core);
  return core;
}

/** What is loaded before a server: Debian's loader of Swank loads ASDF itself, as most users of Slynk do. */
const PREPARATIONS: Readonly<Record<ServerName, readonly string[]>> = { swank: [], slynk: ["(require :asdf)"] };

/** Builds the core once for each SBCL and server, because loading one takes seconds. */
async function findCore(server: ServerName): Promise<SwankCore> {
  const { executable, version } = await findLisp();
  const loader = join(await serverFolder(server), `${server}-loader.lisp`);
  const { mtimeMs } = await stat(loader);
  const identity = [
    executable,
    version,
    loader,
    mtimeMs,
    await readFile(loader, "utf8"),
    ...PREPARATIONS[server],
    FORGET_LIBRARIES,
  ].join("\n");
  const key = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  const core = join(testCache(`${server}-${key}`), `${server}.core`);
  const exists = await access(core).then(
    () => true,
    () => false,
  );
  if (!exists) await buildCore(server, executable, loader, core);
  return { executable, core };
}

async function serverFolder(server: ServerName): Promise<string> {
  if (server === "swank") return findSwank();
  return join(slySources(), "slynk");
}

/** Debian's loader of Swank uses ASDF, which remembers the libraries it has found: those installed after the core would be missing in it. */
const FORGET_LIBRARIES = `(when (find-package "UIOP") (funcall (find-symbol "CALL-IMAGE-DUMP-HOOK" "UIOP")))`;

async function buildCore(server: ServerName, executable: string, loader: string, core: string): Promise<void> {
  const folder = await mkdtemp(`${core}.`);
  const draft = join(folder, "draft");
  const forms = [
    ...PREPARATIONS[server],
    `(load ${JSON.stringify(loader)})`,
    `(${server}-loader:init)`,
    FORGET_LIBRARIES,
    `(sb-ext:save-lisp-and-die ${JSON.stringify(draft)})`,
  ];
  await run(executable, ["--noinform", "--non-interactive", "--no-sysinit", "--no-userinit", ...evals(forms)], {
    env: { ...process.env, HOME: dirname(core) },
    maxBuffer: 64 * 1024 * 1024,
  });
  // Another process may have built the same core; both are valid.
  await rename(draft, core);
  await rm(folder, { recursive: true });
}
