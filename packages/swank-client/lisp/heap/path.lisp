;;;; The answer about what keeps an object alive.

(in-package #:swank-client/heap)

(defconstant +first-steps+ 12 "Steps shown from the root on.")

(defconstant +last-steps+ 12 "Steps shown before the object.")

(defconstant +step-text+ 120 "Characters shown of the value of a step.")

(defconstant +longest-expression+ 300 "Characters of an expression. A longer one is replaced by a reference by number.")

;;; Roots

(defun binding-part (binding value)
  "The root that BINDING is, (SYMBOL . THREAD) with VALUE."
  (destructuring-bind (symbol . thread) binding
    (let ((name (line-text symbol 200)) (number (thread-number thread)))
      (part (format nil "variable ~a in thread ~d~@[ ~a~]" name number (and (sb-thread:thread-name thread) (line-text (sb-thread:thread-name thread) 100)))
            value
            (and (plusp number)
                 (absolute "(sb-thread:symbol-value-in-thread '~a (swank/backend:find-thread ~d))" name number))))))

(defun root-part (search path)
  "The root with which PATH of SEARCH begins."
  (destructuring-bind (value parent . code) (first path)
    (if (= parent +binding-root+)
        (binding-part (aref (search-bindings search) code) value)
        (let ((text (line-text value 200)))
          (part (format nil "symbol ~a" text) value (absolute "'~a" text))))))

;;; Steps

(defun worth-step-p (part)
  "True if PART, the first one, is a step: not the symbol whose variable or function is the next."
  (not (symbolp (part-value part))))

(defun path-parts (search path)
  "The parts of the steps of PATH of SEARCH, the root first."
  (let ((root (root-part search path))
        (parts (mapcar #'link-part (merged-links (links-of path)))))
    (if (and parts (not (worth-step-p root))) 
        (values parts (part-access root))
        (values (cons root parts) nil))))

(defun step-expression (part expression)
  "The expression for PART of the object for which EXPRESSION stands, or a reference by number."
  (let ((text (and expression (part-access part) (or-nil (funcall (part-access part) expression)))))
    (if (and text (<= (length text) +longest-expression+))
        text
        (reference-text (number-of (part-value part))))))

(defun step-entry (part expression)
  "(NAME ID EXPRESSION TEXT) of the step to PART."
  (list (part-name part)
        (number-of (part-value part))
        expression
        (object-text (part-value part) +step-text+)))

(defun step-entries (search path)
  "=> ((NAME ID EXPRESSION TEXT) ...) of the first and last steps of PATH of SEARCH, and the number of those between them"
  (multiple-value-bind (parts access) (path-parts search path)
    (let* ((expressions (loop for expression = (if access (funcall access nil) "nil") then next
                              for part in parts
                              for next = (step-expression part expression)
                              collect next))
           (entries (mapcar #'cons parts expressions))
           (left (max 0 (- (length entries) +first-steps+ +last-steps+))))
      (flet ((shown (entries) (loop for (part . expression) in entries collect (step-entry part expression))))
        (values (if (zerop left)
                    (shown entries)
                    (append (shown (subseq entries 0 +first-steps+)) (shown (last entries +last-steps+))))
                left)))))

(defun found-path (search)
  "The plist with the path that SEARCH has found."
  (multiple-value-bind (entries left) (step-entries search (path-of search))
    (list :steps entries :left left :own (search-own-phase search))))

(defun path-reply (id object)
  "(:path . PLIST) about OBJECT, which has the number ID."
  (let ((start (nanoseconds-now)) (allocated (sb-ext:get-bytes-consed)))
    (multiple-value-bind (search end) (search-roots-for object)
      (let ((cost (list :objects (search-count search)
                        :time (microseconds-since start)
                        :bytes (max 0 (- (sb-ext:get-bytes-consed) allocated)))))
        (with-client-code ((current-session))
          (append (list :path :id id :text (object-text object +instance-text+) :end end)
                  (and (eq end :found) (found-path search))
                  cost))))))

(defun heap-path (id)
  "The steps from a root to the object ID. => (:path . PLIST) | (:no-object ID TEXT-OR-NIL) | (:no-identity ID)"
  (reset-guard-pages)
  (multiple-value-bind (object found) (object-numbered id)
    (cond ((not (eq found t)) (list :no-object id found))
          ((simple-value-p object) (list :no-identity id))
          (t (path-reply id object)))))
