;;;; Answers the requests of Emacs, and offers this runtime to it.

(in-package #:swank-client/activity)

(defun announce (connection channel events)
  "Note that the Emacs of CONNECTION understands EVENTS, which it receives through CHANNEL. => its ledger"
  (sb-ext:atomic-update (car (meeting-place :listeners '()))
                        (lambda (listeners)
                          (cons (list connection channel +protocol+ events) (remove connection listeners :key #'first))))
  (ledger))

(defun respond (operation &rest arguments)
  "The answer to a request of Emacs, a list that the wire can carry. :UNKNOWN for an operation of a later version."
  (case operation
    (:announce (announce *emacs-connection* (first arguments) (second arguments)))
    (:ledger (ledger))
    (:workers (workers))
    (:running (running))
    (:kick (kick))
    (:changes (changes (first arguments)))
    (:prepare-changes (prepare-changes))
    (:ask-agents (apply #'ask-agents arguments))
    (:answer (answer-question *emacs-connection* (first arguments) (second arguments)))
    (t :unknown)))

(offer 'respond)
(tell :runtime)
