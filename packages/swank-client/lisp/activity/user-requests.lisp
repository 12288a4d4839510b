;;;; What the user asks agents to look at.

(in-package #:swank-client/activity)

(defconstant +request-limit+ 4000 "Characters of a request of the user.")

(defun open-agents ()
  "((CONNECTION . NAME) ...) of the agents that are connected."
  (sb-ext:with-locked-hash-table (*agents*)
    (loop for connection being the hash-keys of *agents* using (hash-value name)
          when (connection-open-p connection) collect (cons connection name))))

(defun ask-agents (agent text place)
  "Let AGENT or, if that is NIL, every agent read with its next answer that the user asks TEXT at PLACE, a text or NIL.
=> the names of the agents that will read it"
  (loop with request = (list :text (bounded text +request-limit+) :place (and place (bounded place +request-limit+)))
        for (connection . name) in (open-agents)
        when (or (null agent) (equal agent name))
          do (send (mconn.control-thread connection) (list :write-string "" (list :user-asks request)))
          and collect name))
