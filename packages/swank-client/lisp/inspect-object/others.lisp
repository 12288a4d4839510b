;;;; Views of other objects, and the choice of the view for any object.

(in-package #:swank-client/inspect-object)

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
  (let ((pointer (sb-alien:alien-sap alien)))
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
