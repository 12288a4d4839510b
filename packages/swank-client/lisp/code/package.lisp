;;;; Questions about the program's code.

(defpackage #:swank-client/code
  (:documentation "Answers questions about the program's code: where definitions are, and their text.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-code #:swank-client/asdf
        #:swank-client/threads #:swank-client/printing #:swank-client/ledger #:swank-client/sessions #:swank-client/sources
        #:swank-client/describe)
  (:import-from #:swank-client/evaluate #:*evaluation* #:call-noting-load #:compiled-users #:ensure-texts-shown #:note-compiling #:report-progress
                #:stale-users #:undefined-thing #:undefined-yet-p #:with-odd-character)
  (:import-from #:swank-client/stops #:call-framework #:call-own #:class-name-text #:message-text #:method-form #:note-frame-role #:shown-class)
  (:export #:apropos-names
           #:class-info
           #:compile-code
           #:list-changes
           #:find-references
           #:load-changes
           #:load-code
           #:load-progress
           #:macroexpand-code
           #:run-tests
           #:save-changes
           #:search-source
           #:show-file
           #:show-source))
