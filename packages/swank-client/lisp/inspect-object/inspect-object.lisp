;;;; The answer about an object: what it is, and a page of its parts, with parts of their own.

(in-package #:swank-client/inspect-object)

(defconstant +print-limit+ 2000 "Characters shown of an inspected object.")

(defconstant +part-limit+ 200 "Characters shown of a part.")

(defconstant +expression-limit+ 300 "Characters of an expression that reaches a part. A longer one is replaced by a reference by number.")

(defconstant +deep-parts+ 10 "Parts shown of each part.")

(defconstant +entries-limit+ 500 "Parts in one answer, at all depths.")

(defvar *entries-left* 0 "Parts that the answer may still describe.")

(defvar *shown* nil "The objects whose parts the answer shows, or is showing: object -> number.")

(defun optional (key value)
  "(KEY VALUE), or NIL if VALUE is NIL."
  (and value (list key value)))

;;; Parts

(defun part-expression (part expression)
  "The expression for PART of the object for which EXPRESSION stands, or NIL."
  (let ((text (and (part-access part) (or-nil (funcall (part-access part) expression)))))
    (and text (<= (length text) +expression-limit+) text)))

(defun worth-number-p (part)
  "True if PART is an object that can be inspected in turn."
  (and (not (eq :unbound (part-mark part)))
       (not (simple-value-p (part-value part)))
       (not (member (part-value part) '(nil t)))))

(defun part-number (part)
  "The number of the object that is PART, or NIL."
  (and (worth-number-p part)
       (if (part-freshp part)
           (kept-number (part-value part))
           (number-of (part-value part)))))

(defun deep-parts (value expression depth)
  "A plist with the parts of VALUE, DEPTH levels of them, unless the answer shows them elsewhere."
  (let ((view (or-nil (view-of value))))
    (when (and view (plusp (view-count view)))
      (if (gethash value *shown*)
          '(:repeated t)
          (list* :kind (view-kind view)
                 :count (view-count view)
                 (optional :parts (part-entries value view expression 0 +deep-parts+ depth)))))))

(defun part-entry (part index expression depth)
  "The plist that describes PART, the one at INDEX of the object for which EXPRESSION stands."
  (let* ((value (part-value part))
         (number (part-number part))
         (own (part-expression part expression)))
    (append (list :index index :name (part-name part))
            (if (eq :unbound (part-mark part))
                '(:text "")
                (list :text (object-text value +part-limit+)))
            (optional :id number)
            (optional :expression own)
            (optional :mark (part-mark part))
            (and (part-key part) (list :key-id (number-of (first (part-key part)))))
            (and (plusp depth) number (not (eq :cycle (part-mark part)))
                 (not (symbolp value))
                 (deep-parts value (or own (reference-text number)) depth)))))

(defun part-entries (object view expression start end depth)
  "The plists that describe the parts of OBJECT from START to END, DEPTH levels of them. VIEW is its view."
  (setf (gethash object *shown*) t)
  (loop for part in (funcall (view-range view) start end)
        for index from start
        while (plusp *entries-left*)
        do (decf *entries-left*)
        collect (part-entry part index expression (1- depth))))

;;; Paths

(defun nth-part (object index)
  "=> the part INDEX of OBJECT, or NIL and the number of its parts"
  (let* ((view (view-of object))
         (part (and (< -1 index (view-count view)) (first (funcall (view-range view) index (1+ index))))))
    (if (and part (not (eq :unbound (part-mark part))))
        part
        (values nil (view-count view)))))

(defun part-at (object expression path)
  "=> T, the object that PATH, a list of indexes, leads to from OBJECT, and its expression, if EXPRESSION is that for OBJECT;
NIL, the number of parts, and the index if there is no such part"
  (loop for index in path
        do (multiple-value-bind (part count) (nth-part object index)
             (unless part (return-from part-at (values nil count index)))
             (setf expression (or (part-expression part expression) (reference-text (number-of (part-value part))))
                   object (part-value part))))
  (values t object expression))

;;; The answer

(defun object-number (object keep known)
  "The number of OBJECT, which is kept alive if KEEP. KNOWN is one number of it."
  (cond (keep (kept-number object))
        ((simple-value-p object) (or known (number-of object)))
        (t (number-of object))))

(defun object-entry (object expression &key (start 0) (count 50) (depth 1) keep id)
  "(:object . PLIST) that describes OBJECT, which has the number ID unless that is NIL, with COUNT parts from START on, and DEPTH levels of
parts."
  (let* ((begun (nanoseconds-now))
         (view (view-of object))
         (number (object-number object keep id))
         (end (min (+ start count) (view-count view)))
         (*entries-left* +entries-limit+)
         (*shown* (make-hash-table :test 'eq))
         (parts (and (plusp depth) (part-entries object view expression (min start end) end depth))))
    (list :object
          :id number
          :kind (view-kind view)
          :text (object-text object +print-limit+)
          :expression expression
          :facts (loop for (label . text) in (view-facts view) collect (list label text))
          :count (view-count view)
          :parts parts
          :cut (or (not (plusp *entries-left*)) *printing-time-over-p*)
          ;; evaluated last
          :looking (round (- (nanoseconds-now) begun) 1000))))

(defmacro with-client-code ((session) &body body)
  "Run BODY, which prints objects, as code of SESSION, with its package and syntax."
  (let ((home (gensym "SESSION")))
    `(let ((,home ,session))
       (with-code-of (,home)
         (with-session-settings (,home)
           (with-code-syntax (,home (session-package-now ,home))
             (with-printing-time ,@body)))))))

(defun inspect-object (id path &key expression (start 0) (count 50) (depth 1) keep)
  "Describe the object ID, or the part to which PATH, a list of indexes, leads from it. EXPRESSION is another one for the object.
=> OBJECT-ENTRY | (:no-object ID TEXT-OR-NIL) | (:no-part INDEX COUNT)"
  (reset-guard-pages)
  (multiple-value-bind (object found) (object-numbered id)
    (if (not (eq found t))
        (list :no-object id found)
        (with-client-code ((current-session))
          (multiple-value-bind (found part reached) (part-at object (or expression (reference-text id)) path)
            (if found
                (object-entry part reached :start start :count count :depth depth :keep keep :id (and (null path) id))
                (list :no-part reached part)))))))

(defun release-object (id)
  "Keep the object ID alive no longer for this client. => whether it was kept"
  (release-number id))
