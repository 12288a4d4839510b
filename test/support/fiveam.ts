import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { decode, read } from "sexp-parser";
import { findLisp, findSwank } from "swank-client/launch";

const { list, map, nullable, string, tuple } = decode;

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LISP = join(ROOT, "packages/swank-client/lisp");

/** A form that loads FiveAM, a library of some files, into any image. */
export const LOAD_FIVEAM = `(load ${JSON.stringify(join(ROOT, "test/support/find-fiveam.lisp"))})`;

/** A test of the Lisp code. */
export interface LispTest {
  readonly name: string;
  /** The test's description. */
  readonly expected: string;
}

/** The result of a Lisp test; `problem` is undefined if it passed. */
export interface LispResult {
  readonly name: string;
  readonly problem: string | undefined;
}

const result = map(tuple(string, string, nullable(string)), ([name, , problem]): LispResult => ({ name, problem }));

/** Returns the tests that the given Lisp test files define; all by default. */
export function lispTests(files = readdirSync(join(LISP, "tests")).sort()): readonly LispTest[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(LISP, "tests", file), "utf8");
    const tests = text.matchAll(/^\(define-test (\S+)\s+"([^"]+)"/gm);
    return [...tests].map(([, name = "", expected = ""]) => ({ name, expected }));
  });
}

/** Milliseconds that a run of Lisp tests may take. It compiles all systems, for which an idle machine needs 20 s. */
export const LISP_TESTS_TIME = 240_000;

/**
 * Runs the Lisp tests with these names, by default all, with the installed SBCL, Swank and FiveAM, and with fixed package names.
 *
 * @param stackLimit - The limit of the main stack, as `ulimit -s` takes it; Linux maps the C library elsewhere then. Default: the usual one.
 */
export async function runLispTests(names: readonly string[] = [], stackLimit?: string): Promise<readonly LispResult[]> {
  const [lisp, swank] = await Promise.all([findLisp(), findSwank()]);
  const options = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const args = [
    "--load",
    join(ROOT, "test/support/find-fiveam.lisp"),
    ...evaluated(names).flatMap((form) => ["--eval", form]),
  ];
  const env = { ...process.env, SWANK_FOLDER: swank + sep, SYSTEMS: join(LISP, "swank-client.asd") };
  const command = [lisp.executable, ...options, ...args];
  const limited = stackLimit === undefined ? [] : ["/bin/sh", "-c", `ulimit -s ${stackLimit}; exec "$0" "$@"`];
  return list(result)(read(await printedBy([...limited, ...command], env)));
}

/** What a program prints. If it fails, or has not ended in time and is killed, the error shows what it has printed until then. */
async function printedBy([program = "", ...args]: readonly string[], env = process.env): Promise<string> {
  const limits = { timeout: LISP_TESTS_TIME, killSignal: "SIGKILL", maxBuffer: 10_000_000 } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env, ...limits }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const ending = error.killed ? `was killed after ${LISP_TESTS_TIME / 1000} s` : `failed (${error.code})`;
      reject(new Error(`${program} ${ending}. It had printed:\n${stdout.slice(-4000)}\n${stderr.slice(-8000)}`));
    });
    // Who asks for input gets none, instead of waiting for it.
    child.stdin?.end();
  });
}

/** The file with the tests of `text/`. */
export const TEXT_TESTS = "text.lisp";

/** A Lisp other than SBCL that may be installed. */
export const OTHER_LISP = "ecl";

/** Options with which a Lisp reads no file of the user's, and the option that loads a file. */
const PLAIN_OPTIONS = new Map([
  [OTHER_LISP, ["--norc", "--load"]],
  ["sbcl", ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive", "--load"]],
]);

/** Runs the tests of `text/` in an image without Swank: in the installed SBCL, or in the Lisp of the given name. Fails if that is missing. */
export async function runTextTests(name: string): Promise<readonly LispResult[]> {
  const program = name === OTHER_LISP ? name : (await findLisp()).executable;
  const folder = await mkdtemp(join(tmpdir(), "text-tests-"));
  try {
    const file = join(folder, "run.lisp");
    await writeFile(file, textTests(folder));
    const stdout = await printedBy([program, ...(PLAIN_OPTIONS.get(name) ?? []), file]);
    return list(result)(read(stdout.slice(stdout.indexOf(MARK) + MARK.length)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whether the program can be started. */
export async function isInstalled(program: string): Promise<boolean> {
  return promisify(execFile)(program, ["--version"]).then(
    () => true,
    () => false,
  );
}

/** Stands before the results: ECL prints what it loads. */
const MARK = "RESULTS ";

/** A program without Swank, in any Lisp. ECL needs no C compiler for it. */
const textTests = (folder: string) => `
(require "asdf")
#+ecl (ext:install-bytecodes-compiler)
(asdf:initialize-output-translations
 '(:output-translations (t (${JSON.stringify(folder + sep)} :implementation)) :ignore-inherited-configuration))
(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
  (handler-bind ((warning #'muffle-warning))
    (load ${JSON.stringify(join(ROOT, "test/support/find-fiveam.lisp"))})
    (asdf:load-asd ${JSON.stringify(join(LISP, "swank-client.asd"))})
    (asdf:load-system "swank-client/text/tests")))
(when (find-package "SWANK") (error "Swank is loaded."))
(princ "${MARK}(")
(uiop:symbol-call "SWANK-CLIENT/TEXT-TESTS" "RUN-ALL")
(princ ")")
(finish-output)
(uiop:quit)
`;

const evaluated = (names: readonly string[]) => [
  `(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
     (load (merge-pathnames "swank-loader.lisp" (sb-ext:parse-native-namestring (sb-ext:posix-getenv "SWANK_FOLDER"))))
     (funcall (intern "INIT" "SWANK-LOADER") :quiet t)
     (asdf:load-asd (sb-ext:parse-native-namestring (sb-ext:posix-getenv "SYSTEMS")))
     (asdf:load-system "swank-client/tests"))`,
  `(progn (princ "(") (uiop:symbol-call "SWANK-CLIENT/TEXT-TESTS" "RUN-ALL" '(${names.map((name) => `"${name}"`).join(" ")})) (princ ")"))`,
  `(let ((faults (uiop:symbol-call "SWANK-CLIENT/SBCL-FAULTS" "RECENT-FAULTS")))
     (when faults
       (format *error-output* "Faults of the runtime:~%~{~s~%~}" faults)
       (sb-ext:exit :code 1)))`,
];
