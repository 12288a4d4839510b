/** Forms that load a Lisp library of other people into any image. The set-up of the tests makes sure that it is installed. */
export function loadLibrary(name: "cl-ppcre" | "hunchentoot"): string {
  return `
    (require "asdf")
    (let ((quicklisp (merge-pathnames "quicklisp/setup.lisp" (user-homedir-pathname))))
      (when (and (null (asdf:find-system "${name}" nil)) (probe-file quicklisp)) (load quicklisp)))
    (asdf:load-system "${name}")`;
}
