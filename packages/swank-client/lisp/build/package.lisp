;;;; Compiles and loads code and systems, and says what the compiler said.

(defpackage #:swank-client/build
  (:documentation "Compiles and loads code and systems, and says what the compiler said.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/sbcl-compiler #:swank-client/any-asdf #:swank-client/text
        #:swank-client/forms #:swank-client/texts #:swank-client/ledger #:swank-client/session #:swank-client/conditions
        #:swank-client/evaluate #:swank-client/loaded-texts #:swank-client/definitions)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-conditions #:redefinition-warning)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-code #:character-read #:load-compiled-as)
  (:import-from #:swank-client/printing #:report-text)
  (:import-from #:swank-client/connection #:encapsulate-function #:unencapsulate-function)
  (:import-from #:swank-client/evaluations #:*evaluation* #:make-evaluation)
  (:import-from #:swank-client/told-forms #:note-calls-in-text #:tell-text)
  (:import-from #:swank-client/names #:+suggestions+ #:odd-character-in #:slip-p)
  (:import-from #:swank-client/questions #:missing-file #:plain-file)
  (:export #:+notes-limit+ #:call-collecting-notes #:call-with-folder #:compile-code #:file-in #:load-code #:load-current #:load-progress
           #:make-note #:note #:note-facts #:noted-file #:noted-path #:noted-position #:noted-severity #:noted-text #:noted-undefined
           #:plain-system-name-p #:unloaded-files))
