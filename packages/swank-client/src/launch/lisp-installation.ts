import { decode, type Sexp } from "sexp-parser";

const { boolean, nullable, optional, plist, string } = decode;

/** An SBCL, as it describes itself. */
export interface LispInstallation {
  /** The requested executable. It may be a script that starts another program. */
  readonly executable: string;
  /** E.g. `2.2.9.debian`. */
  readonly version: string;
  /** The program that runs. */
  readonly runtime: string;
  /** The core that it starts from; `undefined` if the program contains its core. */
  readonly core: string | undefined;
  /** The folder that holds `contrib`. */
  readonly home: string | undefined;
  /** True if it has threads. Without them Swank can serve only one request at a time. */
  readonly hasThreads: boolean;
}

/** A form that prints the input of {@link decodeInstallation} on a separate line. Any Lisp can read the form. */
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

/** @throws DecodeError if the text is not the output of the form. */
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
