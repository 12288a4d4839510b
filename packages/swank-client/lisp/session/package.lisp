;;;; What is kept for each client: its session, its definitions, its numbered objects, and how it reads names and code.

(defpackage #:swank-client/texts
  (:documentation "The texts of source files as clients' code loaded them.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:+unix-epoch+ #:nil-on)
  (:export #:changed-at #:changed-system-definitions #:compiled-after-p #:file-octets #:files-saved-to #:forget-text #:forget-texts
           #:load-unfinished-p #:loaded-dates #:loaded-octets #:loaded-text-files #:note-compiled-text #:note-image-text #:note-load-begun
           #:note-load-ended #:note-saved-origin #:note-seen-text #:note-system-definition #:note-text #:saved-files #:saved-texts
           #:text-loaded-p #:text-of-compiled #:text-to-load #:unfinished-loads))

(defpackage #:swank-client/ledger
  (:documentation "Kinds of definitions, and the definitions that a session's forms make.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-functions #:compiler-info)
  (:import-from #:swank-client/forms #:defining-kind)
  (:import-from #:swank-client/texts #:loaded-octets #:note-text)
  (:export #:confirm-definitions #:confirmed-p #:current-definition #:defined-thing #:definition-source #:entry-foreign #:entry-kind
           #:entry-name #:entry-origin #:entry-redefined #:entry-valued #:forget-load #:ledger-assigned #:ledger-calls #:ledger-entries #:ledger-loads
           #:ledger-lock #:ledger-origins #:ledger-pending #:make-compiled-origin #:make-ledger #:method-name #:methods-of #:name-p
           #:note-assignments #:note-defining-form #:note-load #:own-origin-p #:place-file #:place-number #:replaced-date #:replaced-place
           #:source-kinds #:source-origin #:specializer-key))

(defpackage #:swank-client/named-calls
  (:documentation "Calls by which a session may have defined something of a kind that Lisp does not record.")
  (:use #:common-lisp)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:import-from #:swank-client/forms #:element-spans)
  (:import-from #:swank-client/ledger #:ledger-calls #:ledger-lock)
  (:export #:call-name #:named-call-date #:named-call-form #:named-call-package #:named-call-text #:note-named-calls))

(defpackage #:swank-client/session
  (:documentation "What is kept for each client: its settings and its syntax.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:user-package)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/swank-connections #:*connections* #:*emacs-connection*)
  (:import-from #:swank-client/text #:parsed-package #:trimmed)
  (:import-from #:swank-client/connection #:*code-session*)
  (:import-from #:swank-client/ledger #:make-ledger)
  (:export #:*arrival-hooks* #:*departure-hooks* #:*history-variables* #:*live-changes* #:*session-variables* #:*sessions* #:*visit-hooks*
           #:clients-p #:code-readtable #:code-session #:connection-open-p #:current-session #:find-designated-package #:fresh-values
           #:global-readtable #:readtable-of-package #:session-connection #:session-debugger-hook #:session-departed #:session-evaluations
           #:session-forms-told #:session-ledger #:session-of #:session-package #:session-package-now #:session-protects-image #:session-readtable
           #:session-readtable-home #:session-setting #:session-threads-told #:session-values #:with-code-of #:with-code-syntax
           #:with-file-syntax #:with-session-settings #:with-session-variables))

(defpackage #:swank-client/told-forms
  (:documentation "The forms by which a session's definitions can be made again, told to a client that keeps them.")
  (:use #:common-lisp #:swank-client/session)
  (:import-from #:swank-client/any-lisp #:lisp-operator #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-requests #:send)
  (:import-from #:swank-client/swank-connections #:mconn.control-thread)
  (:import-from #:swank-client/forms #:defining-kind #:element-spans #:operator-name #:token-end #:top-level-form-end #:top-level-form-start
                #:top-level-forms)
  (:import-from #:swank-client/printing #:line-text-in-time)
  (:import-from #:swank-client/named-calls #:note-named-calls)
  (:export #:defining-part #:mentions-definition-p #:note-calls-in-text #:tell-form #:tell-text))

(defpackage #:swank-client/evaluations
  (:documentation "The state of each running evaluation.")
  (:use #:common-lisp)
  (:export #:*evaluation* #:*return-hooks* #:*starting-evaluation* #:evaluation-compiled-files #:evaluation-condition-log
           #:evaluation-file-warning-count #:evaluation-file-warnings #:evaluation-form #:evaluation-given-input #:evaluation-given-values
           #:evaluation-id #:evaluation-interrupts #:evaluation-interrupts-wanted #:evaluation-lock #:evaluation-over
           #:evaluation-pending-interrupts #:evaluation-prompted #:evaluation-redefinition-count #:evaluation-redefinitions
           #:evaluation-macros #:evaluation-replaced #:evaluation-session #:evaluation-stale-users #:evaluation-started #:evaluation-stderr #:evaluation-stdout #:evaluation-thread
           #:evaluation-threaded #:evaluation-unwind #:evaluation-unwound-at #:evaluation-updates-package #:evaluation-warning-count
           #:evaluation-warnings #:evaluation-warnings-dropped #:make-evaluation))

(defpackage #:swank-client/code-state
  (:documentation "What is bound in threads that run clients' code.")
  (:use #:common-lisp)
  (:import-from #:swank-client/connection #:interruption #:runtime-stop)
  (:export #:*breakpoint-call* #:*breakpoint-lambda-list* #:*breakpoint-variables* #:*code-unwinds* #:*condition-log* #:*for-stepping*
           #:*in-user-code* #:*input* #:*outermost-restart* #:*source* #:*stop-hook* #:breakpoint-reached #:exit-refused #:interrupted
           #:reached-breakpoint #:reached-hit))

(defpackage #:swank-client/names
  (:documentation "The symbols and packages that texts name.")
  (:use #:common-lisp #:swank-client/text #:swank-client/session)
  (:import-from #:swank-client/any-names #:accessible-symbol #:runtime-package-p #:user-package)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-functions #:compiler-info)
  (:import-from #:swank-client/forms #:block-comment-end)
  (:export #:+suggestions+ #:check-characters #:home-name #:home-package #:implementation-package-p #:live-or-user #:live-package
           #:live-packages #:may-name-p #:means-something-p #:names-meant #:nearer-p #:odd-character #:odd-character-in #:odd-character-of-name
           #:odd-character-text #:package-known-in #:package-not-found #:qualified-name #:readable-name #:similar-packages #:similar-symbols
           #:slip-p #:symbol-named #:symbols-elsewhere #:symbols-worth-naming #:with-name-spelled #:with-names-spelled))

(defpackage #:swank-client/reading
  (:documentation "Reads code as data, within limits.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-compiler #:comma-form #:comma-p #:make-comma)
  (:import-from #:swank-client/text #:blank-p)
  (:import-from #:swank-client/forms #:map-tokens #:package-marker)
  (:import-from #:swank-client/names #:check-characters #:package-known-in)
  (:export #:bounded-readtable #:check-literal #:data-readtable #:prefix-of-unknown #:read-without-interning #:source-forms
           #:unshared-size-p #:with-literal-limits))

(defpackage #:swank-client/objects
  (:documentation "The numbered objects of each client.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/session #:*departure-hooks* #:code-session #:current-session)
  (:export #:drop-lookup #:kept-number #:new-number #:number-of #:numbered-values #:object-numbered #:release-all #:release-number #:simple-value-p))
