;;;; Compares the image with the program's files, and brings each up to date with the other.

(defpackage #:swank-client/changes
  (:documentation "Compares the image with the program's files, and brings each up to date with the other.")
  (:use #:common-lisp #:swank-client/sbcl-code #:swank-client/text #:swank-client/forms #:swank-client/printing #:swank-client/texts
        #:swank-client/ledger #:swank-client/session #:swank-client/evaluate #:swank-client/loaded-texts #:swank-client/definitions
        #:swank-client/recorded #:swank-client/image #:swank-client/questions #:swank-client/build)
  (:import-from #:swank-client/any-names #:accessible-symbol #:call-if-loaded #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-functions #:*method-function-names*)
  (:import-from #:swank-client/any-asdf #:required-files)
  (:import-from #:swank-client/analyses #:mentions-readtable-p)
  (:import-from #:swank-client/evaluations #:*evaluation*)
  (:import-from #:swank-client/names #:package-known-in #:symbol-named)
  (:import-from #:swank-client/named-calls #:call-name #:named-call-date #:named-call-form #:named-call-package #:named-call-text)
  (:import-from #:swank-client/told-forms #:mentions-definition-p)
  (:import-from #:swank-client/looks #:own-code #:threads-inside)
  (:import-from #:swank-client/reading #:data-readtable #:read-without-interning)
  (:import-from #:swank-client/conditions #:call-own #:note-frame-role)
  (:export #:list-changes #:load-changes #:save-changes #:undo-definition #:unsaved-definitions))
