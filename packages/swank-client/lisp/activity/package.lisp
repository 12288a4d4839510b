;;;; What agents do in the image, for the user's Emacs.

(defpackage #:swank-client/activity
  (:documentation "Records what agents do, and shows it in each Emacs that asks for it.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/sessions)
  (:import-from #:swank-client/connection #:*observer*)
  (:import-from #:swank-client/evaluate #:*ask-to-exit* #:end-evaluations)
  (:export #:ask-user #:introduce #:note-answer #:note-question #:note-refusal #:user-reachable-p))
