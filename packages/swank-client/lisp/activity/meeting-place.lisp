;;;; Where versions of the runtime and Emacs find each other: the property list of the keyword :SWANK-MCP. Its names never change.
;;;;   :LISTENERS  a cell with ((CONNECTION CHANNEL PROTOCOL (EVENT ...)) ...), the Emacs connections that understand events of a protocol,
;;;;               and which, as keywords: one of another version is sent no others
;;;;   :RUNTIMES   a cell with ((PROTOCOL VERSION FUNCTION) ...), the latest first; FUNCTION answers the requests of Emacs
;;;;   :CALLS      a cell with the number of the latest call
;;;; Either side makes a cell that does not exist, so Emacs can announce itself before any agent has come.

(in-package #:swank-client/activity)

(defconstant +protocol+ 1 "The version of the events and requests. Emacs ignores runtimes with another one.")

(defun meeting-place (name initial)
  "The cell NAME, made with the value INITIAL if there is none."
  (or (get :swank-mcp name)
      (setf (get :swank-mcp name) (list initial))))

(defun announced-listeners ()
  "((CONNECTION CHANNEL PROTOCOL EVENTS) ...) of the Emacs connections that have announced themselves, the latest first."
  (car (meeting-place :listeners '())))

(defun next-number ()
  "A number that no other call, note or question in the image has."
  (1+ (sb-ext:atomic-incf (car (the (cons fixnum) (meeting-place :calls 0))))))

(defun offer (function)
  "Make FUNCTION answer the requests of Emacs, before the functions of other versions."
  (let ((version (package-name *package*)))
    (sb-ext:atomic-update (car (meeting-place :runtimes '()))
                          (lambda (runtimes)
                            (cons (list +protocol+ version function)
                                  (remove version runtimes :key #'second :test #'equal))))))
