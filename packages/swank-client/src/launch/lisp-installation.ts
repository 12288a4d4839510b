import { decode, type Sexp } from "sexp-parser";

const { boolean, nullable, optional, plist, string } = decode;

/** An SBCL, as it describes itself. */
export interface LispInstallation {
  /** The executable that was asked for; it may be a script that starts another one. */
  readonly executable: string;
  /** E.g. `2.2.9.debian`. */
  readonly version: string;
  /** The program that is really run. */
  readonly runtime: string;
  /** What it starts from; `undefined` when that is part of the program. */
  readonly core: string | undefined;
  /** Where its `contrib` folder is. */
  readonly home: string | undefined;
  /** Whether it has threads, without which Swank can serve only one request at a time. */
  readonly hasThreads: boolean;
}

/** Gives what {@link decodeInstallation} takes, on a line of its own; written so that any Lisp can read it. */
export const DESCRIBE_FORM = `
(flet ((sbcl (name) (symbol-value (find-symbol name "SB-EXT")))
       (native (path) (and path (funcall (find-symbol "NATIVE-NAMESTRING" "SB-EXT") path))))
  (let ((*print-pretty* nil))
    (format t "~&~s~%"
            (list :version (lisp-implementation-version)
                  :runtime (native (sbcl "*RUNTIME-PATHNAME*"))
                  :core (native (sbcl "*CORE-PATHNAME*"))
                  :home (native (funcall (find-symbol "SBCL-HOMEDIR-PATHNAME" "SB-INT")))
                  :threads (and (find :sb-thread *features*) t)))
    (finish-output)))`;

const description = plist({
  version: string,
  runtime: string,
  core: nullable(string),
  home: nullable(string),
  threads: optional(boolean),
});

/** @throws DecodeError when it is not what the form gives. */
export function decodeInstallation(executable: string, datum: Sexp): LispInstallation {
  const { version, runtime, core, home, threads } = description(datum);
  return {
    executable,
    version,
    runtime,
    core: core === runtime ? undefined : core,
    home,
    hasThreads: threads ?? false,
  };
}
