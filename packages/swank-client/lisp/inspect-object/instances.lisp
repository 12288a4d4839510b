;;;; Views of instances of classes, and of functions.

(in-package #:swank-client/inspect-object)

(defun class-kind-text (object)
  "The kind of class that OBJECT is an instance of."
  (typecase object
    (condition "condition")
    (structure-object "structure")
    (class "class")
    (t "instance")))

;;; Slots

(defun marked-part (name value access mark)
  "A part, marked as unbound if VALUE is the mark for that."
  (if (eq value (unbound-mark))
      (part name nil access :mark :unbound)
      (part name value access :mark mark)))

(defun slot-access (name)
  "The access to the slot NAME."
  (let ((name (name-expression name)))
    (lambda (object) (format nil "(slot-value ~a ~a)" object name))))

(defun accessor-access (accessor)
  "The access through the function ACCESSOR."
  (let ((name (line-text accessor 200)))
    (lambda (object) (format nil "(~a ~a)" name object))))

(defun slot-parts (object)
  "The parts of OBJECT, an instance of a standard or condition class."
  (loop for (name value sharedp) in (instance-slots object)
        collect (marked-part (line-text name 200) value (slot-access name) (and sharedp :shared))))

(defun structure-view (object)
  "The view of the structure OBJECT."
  (parts-view (format nil "~a of class ~a" (class-kind-text object) (line-text (type-of object) 200)) '()
              (loop for (name value accessor) in (structure-parts object)
                    collect (marked-part (line-text name 200) value
                                         (if accessor (accessor-access accessor) (slot-access name))
                                         nil))))

(defun instance-view (object)
  "The view of OBJECT, an instance of a standard or condition class."
  (parts-view (format nil "~a of class ~a" (class-kind-text object) (line-text (class-name (class-of object)) 200)) '()
              (slot-parts object)))

(defun obsolete-view (object)
  "The view of OBJECT, whose class was redefined."
  (parts-view (format nil "obsolete instance of class ~a" (line-text (obsolete-name object) 200))
              (list (fact "obsolete" "its class was redefined; its next use updates it, so its slots are not read"))
              '()))

;;; Functions

(defun function-kind-text (function)
  "What kind of function FUNCTION is."
  (typecase function
    (generic-function "generic function")
    (t (if (closure-values function) "closure" "function"))))

(defun arglist-fact (function)
  "The fact about the parameters of FUNCTION."
  (multiple-value-bind (lambda-list unknown) (or-nil (sb-introspect:function-lambda-list function))
    (and (not unknown)
         (cons "arguments" (if lambda-list (line-text-in-time lambda-list 500) "()")))))

(defun source-fact (object)
  "The fact about the place where OBJECT, a function or class, was defined, or NIL."
  (let* ((found (or-nil (sb-introspect:find-definition-source object)))
         (source (and found (or-nil (described-source found)))))
    (when source
      (destructuring-bind (kind name position place) source
        (declare (ignore position))
        (ecase kind
          (:file (fact "source" "~a~@[:~d~]" name place))
          (:evaluation (fact "source" "evaluated: ~a" (on-one-line (subseq place 0 (min 200 (length place)))))))))))

(defun closure-parts (function)
  "The variables that FUNCTION closes over. SBCL does not record which value has which name."
  (loop for (value assignedp) in (closure-values function)
        for index from 0
        collect (part (format nil "variable ~d" index) value
                      (let ((control (if assignedp "(sb-kernel:value-cell-ref (sb-kernel:%closure-index-ref ~a ~d))"
                                         "(sb-kernel:%closure-index-ref ~a ~d)"))
                            (index index))
                        (lambda (object) (format nil control object index)))
                      :mark (and assignedp :assigned))))

(defun method-parts (function)
  "The methods of FUNCTION, a generic function."
  (loop for method in (sb-mop:generic-function-methods function)
        for index from 0
        collect (part (line-text-in-time (list* (append (method-qualifiers method)
                                                        (list (mapcar #'specializer-name (sb-mop:method-specializers method)))))
                                         200)
                      method
                      (let ((index index))
                        (lambda (object) (format nil "(nth ~d (sb-mop:generic-function-methods ~a))" index object))))))

(defun specializer-name (specializer)
  "SPECIALIZER as a definition writes it."
  (if (typep specializer 'sb-mop:eql-specializer)
      (list 'eql (sb-mop:eql-specializer-object specializer))
      (class-name specializer)))

(defun function-view (function)
  "The view of FUNCTION: what it closes over or, for a generic function, its methods."
  (parts-view (function-kind-text function)
              (list (text-fact "name" (or-nil (function-name-of function)))
                    (arglist-fact function)
                    (and (not (typep function 'sb-mop:funcallable-standard-object))
                         (text-fact "type" (or-nil (function-code-type function))))
                    (source-fact function)
                    (let ((text (or-nil (documentation function t))))
                      (and (stringp text) (fact "documentation" "~a" (on-one-line (subseq text 0 (min 500 (length text))))))))
              (typecase function
                (standard-generic-function (method-parts function))
                (sb-mop:funcallable-standard-object (slot-parts function))
                (t (closure-parts function)))))

(defun function-name-of (function)
  "The name of FUNCTION, or NIL."
  (if (typep function 'generic-function)
      (sb-mop:generic-function-name function)
      (nth-value 2 (function-lambda-expression function))))
