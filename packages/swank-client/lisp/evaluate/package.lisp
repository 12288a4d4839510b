;;;; Evaluates code for a client. The client calls the exported functions.

(defpackage #:swank-client/evaluate
  (:documentation "Evaluates code for a client. The client calls the exported functions.")
  (:use #:common-lisp #:swank-client/sbcl-conditions #:swank-client/sbcl-stack #:swank-client/sbcl-calls #:swank-client/swank-requests
        #:swank-client/swank-debugger #:swank-client/swank-connections #:swank-client/sbcl-swank #:swank-client/sbcl-compiler
        #:swank-client/sbcl-functions #:swank-client/text #:swank-client/printing #:swank-client/connection #:swank-client/texts
        #:swank-client/ledger #:swank-client/session #:swank-client/evaluations #:swank-client/code-state #:swank-client/names
        #:swank-client/conditions #:swank-client/snapshots)
  (:import-from #:swank-client/any-names #:accessible-symbol #:runtime-symbol-p #:user-package #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:swank-client/sbcl-system #:exit-in-progress-p)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-asdf-if-loaded #:announce-swank #:repetition-p #:retract-swank)
  (:import-from #:swank-client/forms #:defining-kind #:top-level-form-end #:top-level-form-start #:top-level-forms)
  (:import-from #:swank-client/objects #:numbered-values)
  (:import-from #:swank-client/named-calls #:call-name #:note-named-calls)
  (:import-from #:swank-client/told-forms #:tell-form)
  (:import-from #:swank-client/stack #:stack-top #:system-name-p)
  (:import-from #:swank-client/variables #:code-package)
  (:import-from #:swank-client/waits #:*interrupted-wait*)
  (:import-from #:swank-client/looks #:call-in-evaluation #:own-code #:threads-inside)
  (:export #:*ask-to-exit* #:abort-evaluation #:abort-restart #:abort-stop #:at-stop #:begin-session #:call-noting-load
           #:compiled-parts #:compiled-users #:end-attempt #:end-evaluations #:end-thread #:ensure-texts-shown #:enter-interrupt #:evaluate
           #:evaluate-part #:give-code #:handler-home #:interrupt #:invoke-offered-restart #:keep-redefinition #:kept-safely-p #:kill #:no-program-p
           #:note-compiling #:place-name #:renew-outputs #:report-progress #:reported-class #:signal-watched #:stale-users
           #:stop #:stop-identity #:stop-own-thread #:taken-redefinitions
           #:undefined-thing #:undefined-yet-p #:unwind-evaluation #:user-name #:with-odd-character))
