;;;; The calls of frames, as the program made them. SBCL shows an &OPTIONAL or &KEY argument that was not passed with its default value. Only
;;;; for some of them does it record whether they were passed.

(in-package #:swank-client/stops)

(defconstant +frame-text-limit+ 300 "Characters shown of one call.")

(defun frame-lambda-list (debug-fun)
  "The lambda list of the function of DEBUG-FUN as in the source, and true; NIL, NIL if it is not known, as for local functions."
  (ignore-errors
   (let ((function (sb-di:debug-fun-fun debug-fun)))
     ;; for a local function, SBCL gives the function around it
     (when (equal (sb-kernel:%fun-name function) (sb-di:debug-fun-name debug-fun))
       (values (sb-kernel:%fun-lambda-list function) t)))))

(defun frame-arguments (frame)
  "The arguments of the call of FRAME, or NIL if they cannot be read."
  (unless (arguments-unread-p frame)
    (ignore-errors (nth-value 1 (frame-call frame)))))

;;; Whether an argument was passed

(defun supplied-state (variable frame)
  "Whether an argument of FRAME was passed, as VARIABLE, which SBCL made for that, says: :PASSED, :DEFAULTED or NIL if that is not known."
  (when (and (typep variable 'sb-di:debug-var)
             (eq :valid (sb-di:debug-var-validity variable (sb-di:frame-code-location frame))))
    (case (sb-di:debug-var-value variable frame)
      ((t 1) :passed)
      ((nil 0) :defaulted))))

(defun default-of (parameter)
  "The default value of PARAMETER of a lambda list, and true if it is a constant symbol, number or character."
  (let* ((form (and (consp parameter) (second parameter)))
         (quotedp (typep form '(cons (eql quote) (cons t null))))
         (value (if quotedp (second form) form)))
    (if (or (typep value '(or number character keyword boolean)) (and quotedp (symbolp value)))
        (values value t)
        (values nil nil))))

(defun surely-passed-p (value parameter)
  "True if VALUE cannot be the default of PARAMETER, which is NIL if it is not known."
  (and parameter
       (not (unavailable-argument-p value))
       (multiple-value-bind (default constantp) (default-of parameter)
         (and constantp (not (eql value default))))))

(defun parameters-after (keyword lambda-list)
  "The parameters after KEYWORD in LAMBDA-LIST, up to the next keyword."
  (loop for item in (rest (member keyword lambda-list))
        until (member item lambda-list-keywords) collect item))

(defstruct (argument (:type vector) (:copier nil))
  "An &OPTIONAL or &KEY argument of a frame's call."
  ;; the keyword, or NIL for an &OPTIONAL argument
  key
  name
  value
  ;; :PASSED, :DEFAULTED or NIL if that is not known
  state)

(defun optional-argument (item parameter value frame)
  "The argument with VALUE for ITEM, (:OPTIONAL VARIABLE [SUPPLIED]), and PARAMETER of the lambda list, or NIL."
  (destructuring-bind (variable &optional supplied) (rest item)
    (make-argument :name (cond (parameter (parameter-name parameter))
                               ((typep variable 'sb-di:debug-var) (sb-di:debug-var-symbol variable))
                               (t "?"))
                   :value value
                   :state (or (supplied-state supplied frame) (and (surely-passed-p value parameter) :passed)))))

(defun key-argument (item parameters value frame)
  "The argument with VALUE for ITEM, (:KEYWORD KEY VARIABLE [SUPPLIED]). PARAMETERS are those after &KEY, or NIL."
  (destructuring-bind (key variable &optional supplied) (rest item)
    (declare (ignore variable))
    (make-argument :key key :name key :value value
                   :state (or (supplied-state supplied frame)
                              (and (surely-passed-p value (find key parameters :key #'parameter-key)) :passed)))))

(defun item-kind (item)
  "The kind of ITEM in the lambda list of a debug function: :OPTIONAL, :KEYWORD, :REST, :MORE, or :REQUIRED."
  (if (consp item) (first item) :required))

(defun shown-items (frame info)
  "The lambda list of FRAME's debug function, without the first arguments of a method function, which SBCL does not show. INFO is SBCL's."
  (nthcdr (if (find "FAST-METHOD" info :test #'string=) 2 0)
          (sb-di:debug-fun-lambda-list (sb-di:frame-debug-fun frame))))

(defun optional-and-key-arguments (frame arguments items)
  "=> the required ARGUMENTS of FRAME's call, its &OPTIONAL and &KEY arguments as structures, and its other arguments"
  (multiple-value-bind (lambda-list knownp) (frame-lambda-list (sb-di:frame-debug-fun frame))
    (loop with required = '() and found = '()
          with optionals = (and knownp (parameters-after '&optional lambda-list))
          with keys = (and knownp (parameters-after '&key lambda-list))
          for item in items
          do (ecase (item-kind item)
               (:required (push (pop arguments) required))
               (:optional (push (optional-argument item (pop optionals) (pop arguments) frame) found))
               (:keyword (pop arguments)
                (push (key-argument item keys (pop arguments) frame) found))
               ((:rest :more) (loop-finish)))
          finally (return (values (nreverse required) (nreverse found) arguments)))))

;;; Showing the call

(defstruct (uncertain (:constructor make-uncertain (keyword arguments)) (:copier nil))
  "Arguments that may have been passed or not: after &KEY (A 1), the variable A is 1, by an argument or by default."
  keyword
  arguments)

(defun settle-optionals (optionals later-passed-p)
  "Change the states of OPTIONALS that follow from the others. LATER-PASSED-P is true if an argument after them was passed.
Arguments are passed from the left, so those before one that was passed were passed, and none after one that was not."
  (let ((last (if later-passed-p
                  (length optionals)
                  (1+ (or (position :passed optionals :key #'argument-state :from-end t) -1)))))
    (loop with defaultedp = nil
          for argument in optionals
          for index from 0
          do (cond ((< index last) (setf (argument-state argument) :passed))
                   ((or defaultedp (eq :defaulted (argument-state argument)))
                    (setf defaultedp t (argument-state argument) :defaulted))))))

(defun shown-optionals (optionals)
  "The elements that show OPTIONALS in a call."
  (let ((uncertain (remove nil optionals :key #'argument-state :test-not #'eq)))
    (append (mapcar #'argument-value (remove :passed optionals :key #'argument-state :test-not #'eq))
            (and uncertain (list (make-uncertain "&OPTIONAL" uncertain))))))

(defun shown-keys (keys)
  "The elements that show KEYS, the &KEY arguments, in a call."
  (let ((uncertain (remove nil keys :key #'argument-state :test-not #'eq)))
    (append (loop for argument in keys
                  when (eq :passed (argument-state argument))
                    collect (argument-key argument) and collect (argument-value argument))
            (and uncertain (list (make-uncertain "&KEY" uncertain))))))

(defun passed-arguments (frame arguments items)
  "ARGUMENTS, those that SBCL shows for the call of FRAME, without those that were not passed. Those that may have been passed are UNCERTAIN."
  (multiple-value-bind (required found others) (optional-and-key-arguments frame arguments items)
    (let ((optionals (remove-if #'argument-key found))
          (keys (remove-if-not #'argument-key found)))
      (settle-optionals optionals (or others (find :passed keys :key #'argument-state)))
      (when (find :defaulted optionals :key #'argument-state)
        (dolist (argument keys) (setf (argument-state argument) :defaulted)))
      (append required (shown-optionals optionals) (shown-keys keys) others))))

(defun entry-point-p (frame)
  "True if FRAME's function has not checked its arguments yet.
After a call with the wrong number of arguments the parameter slots hold garbage, which the garbage collector must not find in a list."
  (eq :external (sb-di:debug-fun-kind (sb-di:frame-debug-fun frame))))

(defun optional-parameters-p (frame)
  "True if the function of FRAME takes &OPTIONAL or &KEY arguments, as far as SBCL knows."
  (let ((items (ignore-errors (sb-di:debug-fun-lambda-list (sb-di:frame-debug-fun frame)))))
    (and (listp items)
         (some (lambda (item) (member (item-kind item) '(:optional :keyword))) items))))

(defun call-parts (frame)
  "The name, the arguments that the program passed, and SBCL's remarks, of the call of FRAME; NIL if they cannot be read."
  (ignore-errors
   (unless (or (entry-point-p frame) (unread-frame-p frame))
     (multiple-value-bind (name arguments info) (frame-call frame)
       (when (listp arguments)
         (list name
               (if (optional-parameters-p frame)
                   (handler-case (passed-arguments frame arguments (shown-items frame info))
                     (error () arguments))
                   arguments)
               info))))))

(defun call-name-text (name)
  "NAME, that of a function, as SBCL shows it in a backtrace: whole, and with () for the lambda list that is NIL."
  (write-to-string name :escape t :length nil :level nil :pretty (equal name '(lambda ()))))

(defun print-argument (argument room stream)
  "Print ARGUMENT, an object or an UNCERTAIN, where ROOM characters are left. => the number of characters"
  (flet ((text (object room) (object-text object (max room 4) #'beginning-text)))
    (let ((text (if (uncertain-p argument)
                    (format nil "~a~:{ (~a ~a)~}" (uncertain-keyword argument)
                            (loop for each in (uncertain-arguments argument)
                                  collect (list (string (argument-name each)) (text (argument-value each) room))))
                    (text argument room))))
      (write-char #\Space stream)
      (write-string text stream)
      (1+ (length text)))))

(defun print-call (frame stream)
  "Print the call of FRAME as the program made it."
  (let ((parts (call-parts frame)))
    (if parts
        (destructuring-bind (name arguments info) parts
          (let* ((name (call-name-text name))
                 (room (- +frame-text-limit+ (length name) 1)))
            (format stream "(~a" name)
            (dolist (argument arguments)
              (decf room (print-argument argument room stream)))
            (format stream ")~@[ [~{~(~a~)~^,~}]~]" info)))
        (swank/backend:print-frame frame stream))))
