import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findSwank } from "swank-client/launch";
import { testCache } from "./test-cache.js";

/** The Lisps other than SBCL that tests start, with the arguments by which they load a file and read none of the user's. */
const LISPS = {
  ecl: ["--norc", "--load"],
  abcl: ["--noinform", "--noinit", "--load"],
  clisp: ["-norc", "-q", "-q", "-i"],
} as const;

export type OtherLisp = keyof typeof LISPS;

/**
 * Starts the server. ECL and ABCL serve in threads, and their first thread waits for the end of its input; CLISP serves in its only one.
 */
const START = `
#+ecl (unless (ext:getenv "SWANK_IN_C") (ext:install-bytecodes-compiler))
(load (concatenate 'string (ext:getenv "SWANK") "/swank-loader.lisp"))
(funcall (find-symbol "INIT" "SWANK-LOADER"))
#+ecl (ext:install-c-compiler)
(funcall (find-symbol "CREATE-SERVER" "SWANK") :port 0 :dont-close t)
#+(or abcl ecl) (loop while (read-char *standard-input* nil))
#+(or abcl ecl) (ext:quit)
`;

/** A new image of another Lisp with a Swank server. */
export interface OtherImage {
  readonly port: number;
  readonly process: ChildProcess;
  /** Kills the image, and waits for its end. */
  stop(): Promise<void>;
}

/**
 * Starts a Lisp. The first start compiles Swank into the cache of the tests, which takes ABCL and CLISP up to two minutes.
 *
 * @param isSwankInC - Whether ECL's C compiler has compiled Swank, as for a user, instead of the one that needs 1 s in place of 40 s. Default: false.
 */
export async function startOtherLisp(lisp: OtherLisp, isSwankInC = false): Promise<OtherImage> {
  const home = testCache(`home-of-${lisp}`);
  const file = join(home, "start.lisp");
  await writeFile(file, START);
  const env = {
    ...process.env,
    HOME: home,
    LC_ALL: "C",
    SWANK: await findSwank(),
    ...(isSwankInC && { SWANK_IN_C: "yes" }),
  };
  const child = spawn(lisp, [...LISPS[lisp], file], { stdio: "pipe", env });
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

/** The port that Swank prints, which in CLISP serves from then on. Rejects if the image ends before. */
function announcedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    const take = (chunk: unknown) => {
      output += String(chunk);
      const port = /Swank started at port: (\d+)\./.exec(output)?.[1];
      if (port !== undefined) resolve(Number(port));
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`It has ended:\n${output.slice(-4000)}`)));
  });
}
