;;;; The Lisp systems that swank-client loads into an image. This file lists the files of each system in the order in which they are loaded.
;;;; The library reads it too. It loads the first system when a client connects, and the others when they are first needed.

(asdf:defsystem "swank-client"
  :description "The Lisp side of the npm package swank-client: evaluations, the debugger and descriptions for clients of a Swank server"
  :license "MIT"
  :depends-on ("swank-client/debug" "swank-client/changes" "swank-client/covering" "swank-client/observe" "swank-client/emacs")
  :in-order-to ((asdf:test-op (asdf:test-op "swank-client/tests"))))

(asdf:defsystem "swank-client/any"
  :description "What the other systems need of every Lisp"
  :depends-on ((:feature :sbcl (:require "sb-posix")))
  :serial t
  :components ((:file "port/any-names")
               (:file "port/any-lisp")))

;; all that other Lisps get
(asdf:defsystem "swank-client/portable"
  :description "Evaluations, stops and questions about code in Lisps other than SBCL"
  :depends-on ((:feature (:not :swank) "swank") "swank-client/any")
  :serial t
  :components ((:file "port/any-swank")
               (:file "port/any-debuggers")
               (:file "port/any-exits")
               (:file "port/any-files")
               (:file "portable/package")
               (:file "portable/printing")
               (:file "portable/evaluate")
               (:file "portable/stops")
               (:file "portable/questions")))

;; needs no SBCL, no Swank and no client
(asdf:defsystem "swank-client/text"
  :description "Text: names, files, forms and regular expressions"
  :depends-on ("swank-client/any")
  :serial t
  :components ((:file "text/package")
               (:file "text/names")
               (:file "text/files")
               (:file "text/forms")
               (:file "text/heads")
               (:file "text/analyses")
               (:file "text/regex"))
  :in-order-to ((asdf:test-op (asdf:test-op "swank-client/text/tests"))))

(asdf:defsystem "swank-client/connection"
  :description "The image's part of every connection"
  ;; a Swank that was loaded by its own loader, as SLIME does, must not be loaded again
  :depends-on ((:feature (:not :swank) "swank") (:require "sb-bsd-sockets") (:require "sb-introspect") "swank-client/any")
  :serial t
  :components ((:file "port/sbcl-internals")
               (:file "port/sbcl-system")
               (:file "port/sbcl-conditions")
               (:file "port/sbcl-stack")
               (:file "port/sbcl-locks")
               (:file "port/sbcl-calls")
               (:file "port/sbcl-faults")
               ;; in an image with Slynk, clients load port/slynk-any-swank in its place
               (:file "port/any-swank")
               (:file "port/sbcl-swank")
               (:file "connection/package")
               (:file "connection/threads")
               (:file "connection/messages")
               (:file "connection/requests")
               (:file "connection/departures")
               (:file "connection/guard")))

(asdf:defsystem "swank-client/printing"
  :description "Prints objects for people, within limits"
  :depends-on ("swank-client/text" "swank-client/connection")
  :serial t
  :components ((:file "port/sbcl-compiler")
               (:file "printing/values")))

(asdf:defsystem "swank-client/session"
  :description "What is kept for each client"
  :depends-on ("swank-client/printing")
  :serial t
  :components ((:file "port/sbcl-threads")
               (:file "port/sbcl-functions")
               (:file "session/package")
               (:file "session/texts")
               (:file "session/ledger")
               (:file "session/named-calls")
               (:file "session/session")
               (:file "session/told-forms")
               (:file "session/evaluations")
               (:file "session/code-state")
               (:file "session/names")
               (:file "session/reading")
               (:file "session/objects")))

(asdf:defsystem "swank-client/debug/stops"
  :description "Describes stopped threads, and evaluates in them"
  :depends-on ("swank-client/session")
  :serial t
  :components ((:file "debug/package")
               (:file "debug/conditions")
               (:file "debug/calls")
               (:file "debug/stack")
               (:file "debug/variables")
               (:file "debug/waits")
               (:file "debug/snapshot")
               (:file "debug/attempt")))

(asdf:defsystem "swank-client/evaluate"
  :description "Evaluations, with their output, warnings and stops"
  :depends-on ("swank-client/debug/stops")
  :serial t
  :components ((:file "port/sbcl-asdf-if-loaded")
               (:file "evaluate/looks")
               (:file "evaluate/package")
               (:file "evaluate/output")
               (:file "evaluate/thread-output")
               (:file "evaluate/definitions")
               (:file "evaluate/warnings")
               (:file "evaluate/condition-log")
               (:file "evaluate/own-threads")
               (:file "evaluate/reading")
               (:file "evaluate/evaluate")
               (:file "evaluate/control")))

(asdf:defsystem "swank-client/debug"
  :description "Frames, stepping, breakpoints, threads, and the stops of other clients"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "port/sbcl-objects")
               (:file "port/sbcl-references")
               (:file "debug/frame-calls")
               (:file "debug/frames")
               (:file "debug/stepping")
               (:file "debug/breakpoint")
               (:file "debug/breakpoints")
               (:file "debug/foreign-stops")
               (:file "debug/lock-holders")
               (:file "debug/threads")))

(asdf:defsystem "swank-client/image"
  :description "The program's definitions, files and systems"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "port/sbcl-code")
               (:file "port/any-asdf")
               (:file "image/package")
               (:file "image/loaded-texts")
               (:file "image/definitions")
               (:file "image/recorded")
               (:file "image/reset")
               (:file "image/systems")))

(asdf:defsystem "swank-client/testing/frameworks"
  :description "What test frameworks have in common, and each of them"
  :depends-on ("swank-client/image")
  :serial t
  :components ((:file "testing/package")
               (:file "testing/frameworks")
               (:file "testing/fiveam")
               (:file "testing/parachute")
               (:file "testing/rove")
               (:file "testing/lisp-unit2")
               (:file "testing/sb-rt")))

(asdf:defsystem "swank-client/questions"
  :description "Questions about the program's code"
  :depends-on ("swank-client/testing/frameworks")
  :serial t
  :components ((:file "questions/package")
               (:file "questions/describe")
               (:file "questions/families")
               (:file "questions/show")
               (:file "questions/apropos")
               (:file "questions/macroexpand")
               (:file "questions/references")
               (:file "questions/class-info")
               (:file "questions/outline")))

(asdf:defsystem "swank-client/build"
  :description "Compiles and loads code and systems"
  :depends-on ("swank-client/questions")
  :serial t
  :components ((:file "build/package")
               (:file "build/loading")
               (:file "build/compile-code")
               (:file "build/load-code")))

(asdf:defsystem "swank-client/changes"
  :description "Differences between the image and the program's files"
  :depends-on ("swank-client/build")
  :serial t
  :components ((:file "changes/package")
               (:file "changes/changes")
               (:file "changes/uncompared")
               (:file "changes/list-changes")
               (:file "changes/load-changes")
               (:file "changes/undo-definition")
               (:file "changes/save-changes")))

(asdf:defsystem "swank-client/testing"
  :description "Runs tests"
  :depends-on ("swank-client/build")
  :serial t
  :components ((:file "testing/run-tests")))

(asdf:defsystem "swank-client/covering"
  :description "Runs tests and says what did not run"
  :depends-on ("swank-client/testing" "swank-client/changes")
  :serial t
  :components ((:file "port/sbcl-cover")
               (:file "covering/package")
               (:file "covering/lines")
               (:file "covering/run-covered")))

(asdf:defsystem "swank-client/observe"
  :description "Traces, profiles, objects and the heap"
  :depends-on ("swank-client/debug" "swank-client/image")
  :serial t
  :components ((:file "port/sbcl-sprof")
               (:file "port/sbcl-heap")
               (:file "port/sbcl-tables")
               (:file "observe/package")
               (:file "observe/runs")
               (:file "observe/recording")
               (:file "observe/trace")
               (:file "observe/tally")
               (:file "observe/profile")
               (:file "observe/timing")
               (:file "observe/views")
               (:file "observe/instances")
               (:file "observe/inspector")
               (:file "observe/heap")
               (:file "observe/heap-path")
               (:file "observe/state")))

;; loaded with the first evaluation of a client that has a name
(asdf:defsystem "swank-client/emacs"
  :description "What agents do, recorded and shown in each Emacs that asks for it"
  :depends-on ("swank-client/evaluate")
  :serial t
  :components ((:file "emacs/package")
               (:file "emacs/listeners")
               (:file "emacs/observer")
               (:file "emacs/questions")
               (:file "emacs/steering")))

(asdf:defsystem "swank-client/launch"
  :description "Runs an image that the library has launched; the launcher loads these files one by one"
  :depends-on ("swank-client/connection")
  :serial t
  :components ((:file "port/any-loader")
               (:file "launch/process")
               (:file "launch/package")
               (:file "launch/image")
               (:file "launch/share")
               (:file "launch/core")))

;; in place of the system above, whose packages it has
(asdf:defsystem "swank-client/ecl"
  :description "Runs an image of ECL that the library has launched; the launcher loads these files one by one"
  :depends-on ("swank-client/any" "swank-client/portable")
  :serial t
  :components ((:file "port/any-loader")
               (:file "port/ecl-system")
               (:file "ecl/process")
               (:file "ecl/package")
               (:file "ecl/image")
               (:file "ecl/share")))

(asdf:defsystem "swank-client/text/tests"
  :description "Tests of text, for any Lisp"
  :depends-on ("swank-client/text" "fiveam")
  :components ((:file "tests/text"))
  :perform (asdf:test-op (operation system)
             (declare (ignore operation system))
             (unless (uiop:symbol-call "SWANK-CLIENT/TEXT-TESTS" "RUN-ALL")
               (error "Tests have failed."))))

(asdf:defsystem "swank-client/tests"
  :description "Tests that need no client"
  :depends-on ("swank-client" "swank-client/text/tests")
  :serial t
  :components ((:file "tests/package")
               (:file "tests/printing")
               (:file "tests/threads")
               (:file "tests/code")
               (:file "tests/running"))
  :perform (asdf:test-op (operation system)
             (declare (ignore operation system))
             (unless (uiop:symbol-call "SWANK-CLIENT/TEXT-TESTS" "RUN-ALL")
               (error "Tests have failed."))))
