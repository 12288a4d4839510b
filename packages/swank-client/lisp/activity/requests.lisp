;;;; The requests of a client that do something, found in the messages that it sends.

(in-package #:swank-client/activity)

(defparameter *actions*
  '("COMPILE-CODE" "CONTINUE-STOP" "END-THREAD-BY" "EVAL-IN-FRAME" "EVALUATE" "INVOKE-OFFERED-RESTART" "REMOVE-BREAKPOINT" "RESET"
    "RESTART-FRAME" "RETURN-FROM-FRAME" "SAVE-CHANGES" "SET-BREAKPOINT" "STEP-ON" "STOP-THREAD")
  "The functions of the runtime that change something for the client.")

(defun runtime-function-p (operator)
  "True if OPERATOR names a function of a version of the runtime."
  (and (symbolp operator) (runtime-symbol-p operator)))

(defun quoted-form (argument)
  "The form that ARGUMENT quotes, or NIL."
  (and (typep argument '(cons (eql quote) (cons t null))) (second argument)))

(defun wrapped-form (form)
  "The call that FORM makes in a stopped thread, or NIL if it makes none."
  (and (runtime-function-p (first form))
       (cond ((string= "AT-STOP" (first form)) (quoted-form (third form)))
             ((string= "ASK-STOP" (first form)) (quoted-form (fifth form))))))

(defun called-form (form)
  "The call of a function of the runtime that the request FORM makes, or NIL."
  (loop while (consp form)
        do (let ((wrapped (wrapped-form form)))
             (if wrapped
                 (setf form wrapped)
                 (return (and (runtime-function-p (first form)) form))))))

(defun action-p (form)
  "True if FORM, a call of a function of the runtime, does something."
  (member (first form) *actions* :test #'string=))

(defun without-home (code)
  "CODE without the packages of the runtime's functions, which it names to load systems or to run tests."
  (loop for start = (search "SWANK-CLIENT/" code :test #'char-equal)
        for end = (and start (position #\: code :start start))
        while (and end (notany (lambda (char) (find char " ()\"")) (subseq code start end)))
        do (setf code (concatenate 'string (subseq code 0 start) (subseq code (1+ end))))
        finally (return code)))

(defun data-in (text)
  "The data that the runtime has printed as TEXT, or that a client has written for it. Symbols are keywords, except NIL."
  (with-standard-io-syntax
    (let ((*read-eval* nil) (*package* (find-package "KEYWORD")))
      (subst nil :nil (read-from-string text)))))

(defparameter *tools* '(("LOAD-CODE" . "load-system") ("LOAD-CHANGES" . "load-changes") ("RUN-TESTS" . "run-tests"))
  "The functions of the runtime that clients call in evaluated code, because they can stop, and the names that people know.")

(defun called-tool (code)
  "=> the name of the tool that CODE of an evaluation calls, or NIL, and its arguments"
  (let ((end (and (eql 0 (search "(SWANK-CLIENT/" code :test #'char-equal)) (position #\Space code))))
    (when end
      (let* ((colon (position #\: code :end end :from-end t))
             (tool (and colon (cdr (assoc (subseq code (1+ colon) end) *tools* :test #'string-equal)))))
        (and tool
             (ignore-errors (values tool (data-in (concatenate 'string "(" (subseq code end))))))))))

(defun tool-text (tool arguments)
  "The call of TOOL with ARGUMENTS, of a function of the runtime, as the user reads it."
  (destructuring-bind (&optional (first "") system (name "") force test) arguments
    (if (string= tool "load-system")
        (format nil "(load-system ~:[:file ~;~]~s~:[~; :force t~]~:[~; :test t~])" (eq system :t) name (eq force :t) (eq test :t))
        (format nil "(~a~:[ ~s~;~])" tool (null first) first))))

(defun argument-text (argument)
  "ARGUMENT of a request as text. It is data that came over the wire."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*print-case* :downcase) (*package* (find-package "KEYWORD")))
      (prin1-to-string argument))))

(defun operation-of (form)
  "The name of what FORM, a call of a function of the runtime, does."
  (or (and (string= "EVALUATE" (first form)) (called-tool (second form)))
      (string-downcase (first form))))

(defun action-text (form)
  "FORM, a call that does something, as the user reads it."
  (destructuring-bind (operator &rest arguments) form
    (cond ((string= operator "EVALUATE")
           (multiple-value-bind (tool tool-arguments) (called-tool (first arguments))
             (if tool (tool-text tool tool-arguments) (without-home (first arguments)))))
          ((string= operator "EVAL-IN-FRAME") (fourth arguments))
          (t (format nil "(~(~a~)~{ ~a~})" operator (mapcar #'argument-text arguments))))))
