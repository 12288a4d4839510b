;;;; Identifies the owner of a thread in Swank's debugger: the connection that receives its stop.

(in-package #:swank-client/debugger)

(defvar *connection-numbers* (make-hash-table :test 'eq :weakness :key :synchronized t) "Numbers by connection.")

(defvar *last-connection* (list 0) "A cell with the latest number of a connection.")

(defun connection-number (connection)
  "A number that identifies CONNECTION as long as it exists."
  (sb-ext:with-locked-hash-table (*connection-numbers*)
    (or (gethash connection *connection-numbers*)
        (setf (gethash connection *connection-numbers*) (1+ (sb-ext:atomic-incf (car *last-connection*)))))))

(defun number-connections ()
  "Number the other connections, in the order of Swank's list, oldest first."
  (mapc #'connection-number (reverse (remove *emacs-connection* *connections*))))

(defun runtime-sessions ()
  "The tables of sessions by connection, one for each version of the runtime."
  (mapcar #'symbol-value (remove-if-not #'boundp (version-symbols "EVALUATE" "*SESSIONS*"))))

(defun runs-runtime-p (connection)
  "True if the client of CONNECTION uses this library, in any version."
  (some (lambda (sessions) (gethash connection sessions)) (runtime-sessions)))

(defun connection-kind (connection)
  "The kind of CONNECTION's client: :GONE, :SWANK-CLIENT, :REPL or :OTHER."
  (cond ((not (member connection *connections*)) :gone)
        ((runs-runtime-p connection) :swank-client)
        ;; it has a REPL's streams; usually it is Emacs
        ((repl-p connection) :repl)
        (t :other)))

(defun owner-plist (connection)
  "A plist that describes CONNECTION to another client."
  (list :kind (connection-kind connection) :connection (connection-number connection)))
