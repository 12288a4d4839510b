;;;; The steps from a root to an object: what each reference is called, and the expression that follows it.

(in-package #:swank-client/heap)

;;; A link is a reference from one object to the next. Some stand for several references, such as those through the conses of a list.

(defstruct (link (:constructor make-link (holder kind index value)))
  "The reference of KIND and INDEX from HOLDER to VALUE."
  holder kind index value)

(defun links-of (path)
  "The references between the objects of PATH, a result of PATH-OF."
  (loop for ((holder) (value parent . code)) on path
        while parent
        collect (multiple-value-call #'make-link holder (reference-kind code) value)))

(defun list-link (links)
  "=> a link for the conses of a list at the beginning of LINKS, and how many it replaces"
  (let* ((tails (or (position :cdr links :key #'link-kind :test-not #'eq) (length links)))
         (next (nth tails links))
         (elementp (and next (eq :car (link-kind next)))))
    (values (make-link (link-holder (first links)) (if elementp :nth :tail) tails
                       (link-value (if elementp next (nth (1- tails) links))))
            (if elementp (1+ tails) tails))))

(defparameter *merged-kinds*
  '((:data :element :row-major) (:closed :cell :assigned) (:information :car :plist)
    (:function :constant :code-constant))
  "((FIRST SECOND MERGED) ...): two references that are shown as one.")

(defun merged-links (links)
  "LINKS with fewer for the parts of lists, arrays, variables and functions."
  (loop while links
        collect (let* ((link (first links))
                       (next (second links))
                       (merged (and next (third (find-if (lambda (kinds) (and (eq (link-kind link) (first kinds)) (eq (link-kind next) (second kinds))))
                                                         *merged-kinds*)))))
                  (cond ((member (link-kind link) '(:car :cdr))
                         (multiple-value-bind (list-link count) (list-link links)
                           (setf links (nthcdr count links))
                           list-link))
                        ((and merged (mergeable-p link merged))
                         (setf links (cddr links))
                         (make-link (link-holder link) merged
                                    (if (eq merged :assigned) (link-index link) (link-index next))
                                    (link-value next)))
                        (t (pop links) link)))))

(defun mergeable-p (link merged)
  "True if LINK and the next are shown as the one reference MERGED."
  (case merged
    (:plist (symbolp (link-holder link)))
    (:code-constant (and (functionp (link-holder link)) (not (typep (link-holder link) '(or sb-kernel:closure generic-function)))))
    (t t)))

;;; Names

(defun standard-slot-part (object index value)
  "The part of OBJECT, an instance of a standard class, at INDEX of its slots."
  (let ((slot (and (not (obsolete-p object))
                   (or-nil (find index (sb-mop:class-slots (class-of object)) :key #'sb-mop:slot-definition-location)))))
    (if slot
        (part (line-text (sb-mop:slot-definition-name slot) 200) value (slot-access (sb-mop:slot-definition-name slot)))
        (part (format nil "slot ~d" index) value nil))))

(defun word-part (object index value)
  "The part of OBJECT, a structure or condition, at the word INDEX."
  (let ((slot (and (typep object 'structure-object) (structure-slot object index))))
    (if slot
        (destructuring-bind (name accessor) slot
          (part (line-text name 200) value (if accessor (accessor-access accessor) (slot-access name))))
        (part (format nil "word ~d" index) value (indexed "(sb-kernel:%instance-ref ~a ~d)" index)))))

(defun indexed (control index)
  "The access by CONTROL, whose arguments are the expression for an object and INDEX."
  (lambda (object) (format nil control object index)))

(defun entry-part (table kind index value)
  "The part of TABLE, a hash table, that is the key or value of the entry INDEX."
  (multiple-value-bind (key held) (entry-at table index)
    (cond ((eq kind :key) (part "key" value nil))
          ((eq held value)
           (part (format nil "value of ~a" (object-text key 100)) value (entry-access key table)))
          (t (part "value" value nil)))))

(defun function-part (holder value)
  "The part VALUE of HOLDER that is its function, or the code of a function."
  (typecase holder
    (sb-kernel:fdefn (named-function-part (sb-kernel:fdefn-name holder) value))
    (hash-table (part "test" value nil))
    (sb-kernel:closure (part "function" value "(sb-kernel:%closure-fun ~a)"))
    (sb-kernel:funcallable-instance (part "function" value "(sb-kernel:%funcallable-instance-fun ~a)"))
    (t (part "code" value "(sb-kernel:fun-code-header ~a)"))))

(defun absolute (control &rest arguments)
  "The access by an expression that does not depend on the object."
  (let ((text (apply #'format nil control arguments)))
    (lambda (object) (declare (ignore object)) text)))

(defun named-function-part (name value)
  "The function or macro VALUE, whose name is NAME."
  (let* ((symbol (and (symbolp name) name))
         (macro (and symbol (macro-function symbol)))
         (text (line-text name 200)))
    (part (format nil "~:[function~;macro~] ~a" macro text) value
          (cond (macro (absolute "(macro-function '~a)" text))
                (t (absolute "#'~a" text))))))

(defun symbol-part (symbol kind value)
  "The part of SYMBOL that is VALUE."
  (let ((text (line-text symbol 200)))
    (ecase kind
      (:global (part (format nil "variable ~a" text) value (and (symbol-package symbol) (absolute "~a" text))))
      (:definition (named-function-part symbol value))
      (:plist (part (format nil "property list of ~a" text) value "(symbol-plist ~a)"))
      (:information (part (format nil "definitions of ~a" text) value "(sb-kernel:symbol-%info ~a)"))
      (:package (part "package" value "(symbol-package ~a)")))))

(defun link-part (link)
  "The part of its holder for which LINK stands."
  (let ((holder (link-holder link)) (index (link-index link)) (value (link-value link)))
    (flet ((indexed-part (name control) (part (format nil name index) value (indexed control index))))
      (ecase (link-kind link)
        (:nth (part (format nil "element ~d" index) value (element-access index)))
        (:tail (part (format nil "tail ~d" index) value (lambda (object) (format nil "(nthcdr ~d ~a)" index object))))
        (:element (indexed-part "element ~d" "(svref ~a ~d)"))
        (:row-major (indexed-part "element ~d" (if (vectorp holder) "(aref ~a ~d)" "(row-major-aref ~a ~d)")))
        (:data (part "elements" value "(sb-kernel:%array-data ~a)"))
        ((:key :value) (entry-part holder (link-kind link) index value))
        (:standard-slot (standard-slot-part holder index value))
        (:slot (word-part holder index value))
        (:closed (indexed-part "variable ~d" "(sb-kernel:%closure-index-ref ~a ~d)"))
        (:assigned (indexed-part "variable ~d" "(sb-kernel:value-cell-ref (sb-kernel:%closure-index-ref ~a ~d))"))
        (:cell (part "value" value "(sb-kernel:value-cell-ref ~a)"))
        (:constant (indexed-part "constant ~d" "(sb-kernel:code-header-ref ~a ~d)"))
        (:code-constant (indexed-part "constant ~d of its code" "(sb-kernel:code-header-ref (sb-kernel:fun-code-header ~a) ~d)"))
        (:function (function-part holder value))
        ((:global :definition :plist :information :package) (symbol-part holder (link-kind link) value))))))
