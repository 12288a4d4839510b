;;;; The Lisp systems that swank-client loads into an image. This file lists the files of each system in the order in which they are loaded.
;;;; The library reads it too. It loads the first two systems when a client connects, and the others when they are first needed.

(asdf:defsystem "swank-client"
  :description "The Lisp side of the npm package swank-client: evaluations, the debugger and descriptions for clients of a Swank server"
  :license "MIT"
  :depends-on ("swank-client/connection" "swank-client/evaluate" "swank-client/debugger" "swank-client/definitions"
               "swank-client/describe" "swank-client/code" "swank-client/program" "swank-client/trace" "swank-client/profile"
               "swank-client/inspect-object" "swank-client/heap" "swank-client/inspect" "swank-client/activity")
  :in-order-to ((asdf:test-op (asdf:test-op "swank-client/tests"))))

(asdf:defsystem "swank-client/connection"
  :description "The image's part of every connection"
  ;; a Swank that was loaded by its own loader, as SLIME does, must not be loaded again
  :depends-on ((:feature (:not :swank) "swank") (:require "sb-bsd-sockets") (:require "sb-introspect") (:require "sb-posix"))
  :serial t
  :components ((:file "compat/sbcl")
               (:file "compat/sbcl-locks")
               (:file "compat/sbcl-conditions")
               (:file "compat/sbcl-generic-functions")
               (:file "compat/swank")
               (:file "threads/package")
               (:file "threads/locks")
               (:file "threads/interrupts")
               (:file "threads/encapsulation")
               (:file "threads/stack")
               (:file "connection/package")
               (:file "connection/printed")
               (:file "connection/messages")
               (:file "connection/serving")
               (:file "connection/mailboxes")
               (:file "connection/requests")
               (:file "connection/held-locks")
               (:file "connection/socket")
               (:file "connection/stopped-threads")
               (:file "connection/versions")
               (:file "connection/guard")
               (:file "connection/foreign-errors")
               (:file "connection/attach")))

(asdf:defsystem "swank-client/evaluate"
  :description "Evaluations, with their output, warnings and stops"
  :depends-on ("swank-client/connection")
  :serial t
  :components ((:file "compat/sbcl-clock")
               (:file "printing/package")
               (:file "printing/limits")
               (:file "printing/values")
               (:file "printing/arrays")
               (:file "printing/names")
               (:file "printing/files")
               (:file "compat/sbcl-threads")
               (:file "waits/package")
               (:file "waits/waits")
               (:file "waits/cycles")
               (:file "ledger/package")
               (:file "ledger/kinds")
               (:file "ledger/texts")
               (:file "ledger/places")
               (:file "ledger/ledger")
               (:file "ledger/assignments")
               (:file "compat/sbcl-backquote")
               (:file "sessions/package")
               (:file "sessions/conditions")
               (:file "sessions/session")
               (:file "sessions/evaluation")
               (:file "sessions/code")
               (:file "sessions/names")
               (:file "sessions/literals")
               (:file "objects/package")
               (:file "objects/references")
               (:file "objects/shelves")
               (:file "stops/package")
               (:file "stops/base")
               (:file "stops/conditions")
               (:file "stops/lambda-lists")
               (:file "stops/frame-names")
               (:file "stops/restarts")
               (:file "stops/interrupted-frames")
               (:file "stops/shown-objects")
               (:file "stops/calls")
               (:file "stops/stack")
               (:file "stops/method-names")
               (:file "stops/effective-methods")
               (:file "stops/variables")
               (:file "stops/sources")
               (:file "stops/waiting")
               (:file "stops/report-package")
               (:file "stops/snapshot")
               (:file "stops/stepper")
               (:file "stops/attempt")
               (:file "evaluate/package")
               (:file "evaluate/emacs-sources")
               (:file "evaluate/form-source")
               (:file "evaluate/output")
               (:file "evaluate/redefinitions")
               (:file "evaluate/noting")
               (:file "evaluate/file-warnings")
               (:file "evaluate/warnings")
               (:file "evaluate/condition-log")
               (:file "evaluate/policy")
               (:file "evaluate/own-threads")
               (:file "evaluate/redirection")
               (:file "evaluate/presence")
               (:file "evaluate/endings")
               (:file "evaluate/reading")
               (:file "evaluate/prompted-input")
               (:file "evaluate/evaluate")
               (:file "evaluate/control")))

(asdf:defsystem "swank-client/debugger"
  :description "Frames, stepping, breakpoints, and the stops of other clients"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "debugger/package")
               (:file "debugger/objects")
               (:file "debugger/owners")
               (:file "debugger/frame-methods")
               (:file "debugger/stopped-calls")
               (:file "debugger/restartable-frames")
               (:file "debugger/frames")
               (:file "debugger/leaving-frames")
               (:file "debugger/stepping")
               (:file "debugger/breakpoint-names")
               (:file "debugger/breakpoint-code")
               (:file "debugger/breakpoint")
               (:file "debugger/method-breakpoints")
               (:file "debugger/breakpoint-log")
               (:file "debugger/breakpoints")
               (:file "debugger/foreign-stops")))

(asdf:defsystem "swank-client/definitions"
  :description "The definitions of a session, and how to undo them"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "definitions/package")
               (:file "definitions/definitions")
               (:file "definitions/reset")))

(asdf:defsystem "swank-client/describe"
  :description "Descriptions of symbols"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "sources/package")
               (:file "sources/files")
               (:file "sources/forms")
               (:file "sources/analyses")
               (:file "sources/tokens")
               (:file "sources/heads")
               (:file "describe/package")
               (:file "describe/values")
               (:file "describe/sources")
               (:file "describe/reading")
               (:file "describe/calls")
               (:file "describe/describe")))

(asdf:defsystem "swank-client/code"
  :description "Questions about the program's code"
  :depends-on ("swank-client/describe")
  :serial t
  :components ((:file "compat/sbcl-code")
               (:file "compat/asdf")
               (:file "code/package")
               (:file "code/names")
               (:file "code/loaded-files")
               (:file "code/loaded-texts")
               (:file "code/definitions")
               (:file "code/forms-of-definitions")
               (:file "code/recorded-forms")
               (:file "code/recorded-code")
               (:file "code/searched-files")
               (:file "code/test-results")
               (:file "code/test-frameworks")
               (:file "code/fiveam")
               (:file "code/parachute")
               (:file "code/rove")
               (:file "code/lisp-unit2")
               (:file "code/sb-rt")
               (:file "code/test-places")
               (:file "code/show-source")
               (:file "code/show-file")
               (:file "code/regex-parser")
               (:file "code/regex")
               (:file "code/kinds")
               (:file "code/apropos")
               (:file "code/search-source")
               (:file "code/macroexpand")
               (:file "code/cross-references")
               (:file "code/missing-references")
               (:file "code/find-references")
               (:file "code/systems")
               (:file "code/class-info")
               (:file "code/program-definitions")
               (:file "code/changes")
               (:file "code/compared-forms")
               (:file "code/guessed-changes")
               (:file "code/evaluated-changes")
               (:file "code/removed-definitions")
               (:file "code/notes")
               (:file "code/loading")
               (:file "code/list-changes")
               (:file "code/live-changes")
               (:file "code/compile-code")
               (:file "code/file-replacement")
               (:file "code/form-loading")
               (:file "code/save-changes")
               (:file "code/reasons-to-reload")
               (:file "code/loading-order")
               (:file "code/load-changes")
               (:file "code/missing-systems")
               (:file "code/load-code")
               (:file "code/named-tests")
               (:file "code/run-tests")))

(asdf:defsystem "swank-client/program"
  :description "Questions about the running program"
  :depends-on ("swank-client/debugger")
  :serial t
  :components ((:file "program/package")
               (:file "program/stacks")
               (:file "program/list-threads")
               (:file "program/interrupt-thread")))

(asdf:defsystem "swank-client/trace"
  :description "Records calls"
  :depends-on ("swank-client/debugger")
  :serial t
  :components ((:file "trace/package")
               (:file "trace/runs")
               (:file "trace/texts")
               (:file "trace/recording")
               (:file "trace/points")
               (:file "trace/signals")
               (:file "trace/reply")
               (:file "trace/trace-calls")))

(asdf:defsystem "swank-client/profile"
  :description "What takes time and allocates memory"
  :depends-on ("swank-client/trace")
  :serial t
  :components ((:file "compat/sbcl-sprof")
               (:file "profile/package")
               (:file "profile/tally")
               (:file "profile/measure")
               (:file "profile/runs")
               (:file "profile/samples")
               (:file "profile/counts")
               (:file "profile/profile")))

(asdf:defsystem "swank-client/inspect-object"
  :description "Objects with their parts, and numbers of objects"
  :depends-on ("swank-client/describe")
  :serial t
  :components ((:file "compat/sbcl-objects")
               (:file "inspect-object/package")
               (:file "inspect-object/views")
               (:file "inspect-object/lists")
               (:file "inspect-object/tables")
               (:file "inspect-object/instances")
               (:file "inspect-object/others")
               (:file "inspect-object/inspect-object")))

(asdf:defsystem "swank-client/heap"
  :description "What is in the heap, what has grown, and what keeps an object alive"
  :depends-on ("swank-client/trace" "swank-client/inspect-object")
  :serial t
  :components ((:file "compat/sbcl-heap")
               (:file "compat/sbcl-references")
               (:file "heap/package")
               (:file "heap/types")
               (:file "heap/summary")
               (:file "heap/instances")
               (:file "heap/search")
               (:file "heap/steps")
               (:file "heap/path")))

(asdf:defsystem "swank-client/inspect"
  :description "Inspectors"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "inspect/package")
               (:file "inspect/inspections")
               (:file "inspect/inspect")))

;; loaded with the first evaluation of a client that has a name
(asdf:defsystem "swank-client/activity"
  :description "What agents do, recorded and shown in each Emacs that asks for it"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "activity/package")
               (:file "activity/meeting-place")
               (:file "activity/listeners")
               (:file "activity/calls")
               (:file "activity/agents")
               (:file "activity/requests")
               (:file "activity/results")
               (:file "activity/observer")
               (:file "activity/notes")
               (:file "activity/questions")
               (:file "activity/user-requests")
               (:file "activity/visits")
               (:file "activity/changes")
               (:file "activity/history")
               (:file "activity/running")
               (:file "activity/kick")
               (:file "activity/respond")))

(asdf:defsystem "swank-client/launch"
  :description "Runs an image that the library has launched; the launcher loads these files one by one"
  :depends-on ("swank-client/connection")
  :serial t
  :components ((:file "compat/swank-loader")
               (:file "launch/parent")
               (:file "launch/swank")
               (:file "launch/package")
               (:file "launch/image")
               (:file "launch/init-files")
               (:file "launch/share")
               (:file "launch/core")))

(asdf:defsystem "swank-client/tests"
  :description "Tests that need no client"
  :depends-on ("swank-client" "fiveam")
  :serial t
  :components ((:file "tests/package")
               (:file "tests/printing")
               (:file "tests/threads")
               (:file "tests/waits")
               (:file "tests/wire")
               (:file "tests/definitions")
               (:file "tests/sources")
               (:file "tests/code")
               (:file "tests/running")
               (:file "tests/heap")
               (:file "tests/stops"))
  :perform (asdf:test-op (operation system)
             (declare (ignore operation system))
             (unless (uiop:symbol-call "SWANK-CLIENT/TESTS" "RUN-TESTS")
               (error "Tests have failed."))))
