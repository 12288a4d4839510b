;;;; Answers questions about the program's code.

(defpackage #:swank-client/questions
  (:documentation "Answers questions about the program's code.")
  (:use #:common-lisp #:swank-client/sbcl-functions #:swank-client/sbcl-code #:swank-client/text #:swank-client/forms
        #:swank-client/printing #:swank-client/session #:swank-client/names #:swank-client/calls #:swank-client/loaded-texts
        #:swank-client/definitions #:swank-client/recorded #:swank-client/image #:swank-client/frameworks)
  (:import-from #:swank-client/any-names #:call-if-loaded #:runtime-package-p #:user-package)
  (:import-from #:swank-client/any-lisp #:or-nil #:special-file-p)
  (:import-from #:swank-client/sbcl-stack #:reset-guard-pages #:restore-guard-page)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/any-asdf #:described-system #:loaded-systems #:ordered-files #:registered-system
                #:system-definition-file #:systems-defined-in)
  (:import-from #:swank-client/analyses #:analysis-heads #:analysis-inner-heads)
  (:import-from #:swank-client/ledger #:methods-of)
  (:import-from #:swank-client/reading #:data-readtable #:prefix-of-unknown #:read-without-interning)
  (:import-from #:swank-client/conditions #:class-name-text #:message-text #:shown-class)
  (:export #:*room* #:+texts-limit+ #:apropos-names #:bounded #:call-with-named #:class-info #:code-source-of #:describe-name
           #:find-references #:macroexpand-code #:match #:missing-file #:outline-file
           #:outline-package #:outline-system #:place-facts #:plain-file #:search-source #:show-file #:show-source
           #:text-state #:wanted-methods))
