import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { decode, read } from "sexp-parser";
import { findLisp, findSwank } from "swank-client/launch";

const { list, map, nullable, string, tuple } = decode;

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LISP = join(ROOT, "packages/swank-client/lisp");

/** A form that loads FiveAM, a library of some files, into any image. */
export const LOAD_FIVEAM = `(load ${JSON.stringify(join(ROOT, "scripts/setup/find-fiveam.lisp"))})`;

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

/** Returns all tests that the Lisp test files define. */
export function lispTests(): readonly LispTest[] {
  const files = readdirSync(join(LISP, "tests")).sort();
  return files.flatMap((file) => {
    const text = readFileSync(join(LISP, "tests", file), "utf8");
    const tests = text.matchAll(/^\(define-test (\S+)\s+"([^"]+)"/gm);
    return [...tests].map(([, name = "", expected = ""]) => ({ name, expected }));
  });
}

/** Runs all Lisp tests with the installed SBCL, Swank and FiveAM, and with fixed package names. */
export async function runLispTests(): Promise<readonly LispResult[]> {
  const [lisp, swank] = await Promise.all([findLisp(), findSwank()]);
  const options = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const args = [
    "--load",
    join(ROOT, "scripts/setup/find-fiveam.lisp"),
    ...EVALUATED.flatMap((form) => ["--eval", form]),
  ];
  const env = { ...process.env, SWANK_FOLDER: swank + sep, SYSTEMS: join(LISP, "swank-client.asd") };
  const { stdout } = await promisify(execFile)(lisp.executable, [...options, ...args], { env });
  return list(result)(read(stdout));
}

const EVALUATED = [
  `(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
     (load (merge-pathnames "swank-loader.lisp" (sb-ext:parse-native-namestring (sb-ext:posix-getenv "SWANK_FOLDER"))))
     (funcall (intern "INIT" "SWANK-LOADER") :quiet t)
     (asdf:load-asd (sb-ext:parse-native-namestring (sb-ext:posix-getenv "SYSTEMS")))
     (asdf:load-system "swank-client/tests"))`,
  `(progn (princ "(") (uiop:symbol-call "SWANK-CLIENT/TESTS" "RUN-TESTS") (princ ")"))`,
];
