;;;; Views of instances of classes, of functions, and of all other objects.

(in-package #:swank-client/observe)

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
         (source (and found (or-nil (described-source (make-definition :kind :code :name nil :record found))))))
    (when source
      (destructuring-bind (kind name position place) source
        (declare (ignore position))
        (ecase kind
          (:file (fact "source" "~a~@[:~d~]" name place))
          (:evaluation (fact "source" "evaluated: ~a" (on-one-line (subseq place 0 (min 200 (length place)))))))))))

(defun variable-name (number)
  "The name of the variable NUMBER of a closure. SBCL does not record which value has which name."
  (format nil "variable ~d" number))

(defun closed-access (index assignedp)
  "The access to the variable of a closure at INDEX. ASSIGNEDP: whether SBCL keeps it in a cell."
  (lambda (object)
    (format nil (if assignedp "(sb-kernel:value-cell-ref (sb-kernel:%closure-index-ref ~a ~a))" "(sb-kernel:%closure-index-ref ~a ~a)")
            object index)))

(defun closure-parts (function)
  "The variables that FUNCTION closes over."
  (loop for (value assignedp index) in (closure-values function)
        for number from 0
        collect (part (variable-name number) value (closed-access index assignedp) :mark (and assignedp :assigned))))

(defun parts-of-methods (function)
  "The methods of FUNCTION, a generic function."
  (loop for method in (sb-mop:generic-function-methods function)
        for index from 0
        collect (part (line-text-in-time (list* (append (method-qualifiers method)
                                                        (list (mapcar #'specializer-key (sb-mop:method-specializers method)))))
                                         200)
                      method
                      (let ((index index))
                        (lambda (object) (format nil "(nth ~a (sb-mop:generic-function-methods ~a))" index object))))))

(defun encapsulated-function (function expression)
  "=> the function that FUNCTION and what it encapsulates call at last, and the expression for it, made of EXPRESSION for FUNCTION"
  (let ((encapsulation (or-nil (encapsulation-info function))))
    (if encapsulation
        (encapsulated-function (encapsulation-info-definition encapsulation)
                               (let ((*package* (find-package "KEYWORD")))
                                 (format nil "(~(~s~) (~(~s~) ~a))" 'encapsulation-info-definition 'encapsulation-info expression)))
        (values function expression))))

(defun function-view (function)
  "The view of FUNCTION or, if that is what a breakpoint or TRACE has put in its place, of the program's function."
  (multiple-value-bind (own expression) (encapsulated-function function "~a")
    (let ((view (plain-function-view own)))
      (if (eq own function)
          view
          (parts-view (view-kind view)
                      (append (view-facts view) (list (fact "encapsulated" "yes: a breakpoint, TRACE or the like gets its calls")))
                      (list (part "function" own expression)))))))

(defun plain-function-view (function)
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
                (standard-generic-function (parts-of-methods function))
                (sb-mop:funcallable-standard-object (slot-parts function))
                (t (closure-parts function)))))

(defun function-name-of (function)
  "The name of FUNCTION, or NIL."
  (if (typep function 'generic-function)
      (sb-mop:generic-function-name function)
      (nth-value 2 (function-lambda-expression function))))

;;; Views of other objects, and the choice of the view for any object.

;;; Numbers and characters

(defun number-view (number)
  "The view of NUMBER."
  (typecase number
    (integer (make-view :kind "integer"
                        :facts (remove nil (list (fact "bits" "~d" (integer-length number))
                                                 (and (<= 0 number) (< (integer-length number) 200) (fact "hexadecimal" "#x~x" number))))))
    (ratio (parts-view "ratio" '() (list (part "numerator" (numerator number) "(numerator ~a)")
                                         (part "denominator" (denominator number) "(denominator ~a)"))))
    (complex (parts-view "complex number" '() (list (part "real part" (realpart number) "(realpart ~a)")
                                                    (part "imaginary part" (imagpart number) "(imagpart ~a)"))))
    (t (make-view :kind (format nil "~(~a~)" (type-of number))))))

(defun character-view (character)
  "The view of CHARACTER."
  (make-view :kind "character"
             :facts (list (fact "code" "~d" (char-code character))
                          (fact "name" "~a" (char-name character)))))

;;; Threads and locks

(defun thread-view (thread)
  "The view of THREAD."
  (multiple-value-bind (kind object) (wait-of thread)
    (parts-view "thread"
                (list (fact "id" "~d" (thread-number thread))
                      (fact "alive" "~:[no~;yes~]" (sb-thread:thread-alive-p thread))
                      (and (sb-thread:thread-alive-p thread) (fact "state" "~(~a~)" (or kind :unknown))))
                (remove nil (list (part "name" (sb-thread:thread-name thread) "(sb-thread:thread-name ~a)")
                                  (and (sb-thread:thread-alive-p thread) object (not (integerp object))
                                       (part "waits for" object nil)))))))

(defun mutex-view (mutex)
  "The view of MUTEX."
  (parts-view "mutex" (list (fact "held" "~:[no~;yes~]" (sb-thread:mutex-owner mutex)))
              (list (part "name" (sb-thread:mutex-name mutex) "(sb-thread:mutex-name ~a)")
                    (part "owner" (sb-thread:mutex-owner mutex) "(sb-thread:mutex-owner ~a)"))))

;;; Streams

(defun stream-parts (stream)
  "The streams that STREAM, one of SBCL's own, consists of."
  (typecase stream
    ;; SBCL's echo streams are two-way streams, too
    (echo-stream (list (part "input" (echo-stream-input-stream stream) "(echo-stream-input-stream ~a)")
                       (part "output" (echo-stream-output-stream stream) "(echo-stream-output-stream ~a)")))
    (two-way-stream (list (part "input" (two-way-stream-input-stream stream) "(two-way-stream-input-stream ~a)")
                          (part "output" (two-way-stream-output-stream stream) "(two-way-stream-output-stream ~a)")))
    (synonym-stream (list (part "symbol" (synonym-stream-symbol stream) "(synonym-stream-symbol ~a)")))
    (broadcast-stream (list (part "streams" (broadcast-stream-streams stream) "(broadcast-stream-streams ~a)")))
    (concatenated-stream (list (part "streams" (concatenated-stream-streams stream) "(concatenated-stream-streams ~a)")))))

(defun stream-view (stream)
  "The view of STREAM, one of SBCL's own."
  (flet ((yes (test) (or-nil (funcall test stream))))
    (parts-view "stream"
                (list (fact "open" "~:[no~;yes~]" (yes #'open-stream-p))
                      (fact "direction" "~:[~;input ~]~:[~;output~]" (yes #'input-stream-p) (yes #'output-stream-p))
                      (text-fact "element type" (or-nil (stream-element-type stream)))
                      (and (typep stream 'sb-sys:fd-stream)
                           (text-fact "external format" (or-nil (stream-external-format stream))))
                      (and (typep stream 'sb-sys:fd-stream)
                           (fact "file descriptor" "~d" (sb-sys:fd-stream-fd stream)))
                      (and (typep stream 'file-stream)
                           (text-fact "file" (or-nil (pathname stream)))))
                (stream-parts stream))))

;;; Memory of C. It is not read: an address may be that of memory that was freed.

(defun address-text (pointer)
  "The address of POINTER, a system area pointer."
  (format nil "#x~(~x~)" (sb-sys:sap-int pointer)))

(defun pointer-view (pointer)
  "The view of POINTER, a system area pointer."
  (parts-view "system area pointer"
              (list (fact "address" (address-text pointer))
                    (fact "memory" "not read, because the address may be invalid; (sb-sys:sap-ref-8 POINTER OFFSET) reads a byte"))
              '()))

(defun alien-view (alien)
  "The view of ALIEN, a value of C."
  (let ((pointer (alien-address alien)))
    (parts-view "alien value"
                (list (text-fact "type in C" (alien-type alien))
                      (fact "address" (address-text pointer))
                      (fact "memory" "not read, because the address may be invalid; sb-alien:deref and sb-alien:slot read it"))
                (list (part "pointer" pointer "(sb-alien:alien-sap ~a)")))))

;;; Other types

(defun pathname-view (pathname)
  "The view of PATHNAME."
  (parts-view "pathname" '()
              (loop for (name function) in '(("host" pathname-host) ("device" pathname-device) ("directory" pathname-directory)
                                             ("name" pathname-name) ("type" pathname-type) ("version" pathname-version))
                    collect (part name (funcall function pathname) (accessor-access function)))))

(defun weak-pointer-view (pointer)
  "The view of POINTER, a weak pointer."
  (multiple-value-bind (value live) (sb-ext:weak-pointer-value pointer)
    (parts-view "weak pointer" (list (fact "broken" "~:[yes~;no~]" live))
                (and live (list (part "value" value "(sb-ext:weak-pointer-value ~a)"))))))

(defun class-view (class)
  "The view of CLASS."
  (let ((view (instance-view class)))
    (setf (view-facts view) (remove nil (cons (source-fact class) (view-facts view))))
    view))

(defun view-of (object)
  "The view of OBJECT. Calls no code of the user."
  (if (obsolete-p object) (obsolete-view object) (current-view object)))

(defun current-view (object)
  "The view of OBJECT, which is not obsolete."
  (typecase object
    (cons (list-view object))
    (symbol (symbol-view object))
    (string (string-view object))
    (vector (vector-view object))
    (array (if (zerop (array-rank object)) (scalar-view object) (rows-view object)))
    (hash-table (table-view object))
    (number (number-view object))
    (character (character-view object))
    (function (function-view object))
    (package (package-view object))
    (sb-thread:thread (thread-view object))
    (sb-thread:mutex (mutex-view object))
    (pathname (pathname-view object))
    (sb-ext:weak-pointer (weak-pointer-view object))
    (stream (if (plain-stream-p object) (stream-view object) (instance-view object)))
    (class (class-view object))
    (sb-sys:system-area-pointer (pointer-view object))
    (structure-object (if (alien-type object) (alien-view object) (structure-view object)))
    ((or standard-object condition) (instance-view object))
    (t (make-view :kind (format nil "object of type ~a" (line-text (type-of object) 200))))))
