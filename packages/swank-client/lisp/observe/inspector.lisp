;;;; The answer about an object: a page of its parts, with parts of their own; and Swank's inspector for each client.

(in-package #:swank-client/observe)

(defconstant +print-limit+ 2000 "Characters shown of an inspected object.")

(defconstant +part-text-limit+ 200 "Characters shown of a part.")

(defconstant +expression-limit+ 300 "Characters of an expression that reaches a part. A longer one is replaced by a reference by number.")

(defconstant +deep-parts+ 10 "Parts shown of each part.")

(defconstant +entries-limit+ 500 "Parts in one answer, at all depths.")

(defvar *entries-left* 0 "Parts that the answer may still describe.")

(defvar *shown* nil "The objects whose parts the answer shows, or is showing: object -> number.")

;;; Parts

(defun part-expression (part expression)
  "The expression for PART of the object for which EXPRESSION stands, or NIL."
  (let ((text (access-text part expression)))
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
                (list :text (viewed-text value +part-text-limit+)))
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

(defun inspected-number (object keep known)
  "The number of OBJECT, which is kept alive if KEEP. KNOWN is one number of it."
  (cond (keep (kept-number object))
        ((simple-value-p object) (or known (number-of object)))
        (t (number-of object))))

(defun object-entry (object expression &key (start 0) (count 50) (depth 1) keep id)
  "(:object . PLIST) that describes OBJECT, which has the number ID unless that is NIL, with COUNT parts from START on, and DEPTH levels of
parts."
  (let* ((begun (nanoseconds-now))
         (view (view-of object))
         (number (inspected-number object keep id))
         (end (min (+ start count) (view-count view)))
         (*entries-left* +entries-limit+)
         (*shown* (make-hash-table :test 'eq))
         (parts (and (plusp depth) (part-entries object view expression (min start end) end depth))))
    (list :object
          :id number
          :kind (view-kind view)
          :text (viewed-text object +print-limit+)
          :expression expression
          :facts (loop for (label . text) in (append (view-facts view) (remove nil (funcall (view-later view))))
                       collect (list label text))
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
          (multiple-value-bind (found part reached) (part-at object (if expression (with-name-spelled expression) (reference-text id)) path)
            (if found
                (object-entry part reached :start start :count count :depth depth :keep keep :id (and (null path) id))
                (list :no-part reached part)))))))

(defun history-values (variable value)
  "The values of the user's code in VALUE, that of a history variable."
  (if (member variable '(/ // ///)) value (list value)))

(defun release-history (releasable-p)
  "Set the history variables of this client to NIL whose values have parts for which RELEASABLE-P is true. => these parts
Code that runs has values of its own, which become those of the client when it returns."
  (let ((session (current-session)) (released '()))
    (setf (session-values session)
          (loop for variable in *session-variables*
                for value in (session-values session)
                for parts = (and value (member variable *history-variables*)
                                 (remove-if-not releasable-p (history-values variable value)))
                collect (if parts nil value)
                do (setf released (append parts released))))
    released))

(defun release-object (id)
  "Keep the object ID alive no longer for this client, neither as a numbered object nor in history variables. => whether it was kept"
  (multiple-value-bind (object found) (object-numbered id)
    (let ((released (and (eq found t) (release-history (lambda (part) (eq part object))))))
      (or (release-number id) (and released t)))))

(defun release-objects ()
  "Keep no object alive any longer for this client. => the number of those that were kept"
  (let ((objects (append (release-all) (release-history (constantly t)))))
    (length (remove-duplicates (remove-if (lambda (object) (or (simple-value-p object) (member object '(nil t)))) objects)
                               :test #'eq))))

;;; Swank's inspector for each client: Swank keeps its state in a variable, for which each inspected object has a value of its own.

(defconstant +title-limit+ 500 "Characters shown of an inspected object.")

(defconstant +page-limit+ 500 "Entries of a page.")

(defconstant +entries-to-line-end+ 20 "Further entries that a page may have so that it ends with a line.")

(defconstant +description-limit+ 200000 "Characters of a description.")

(defvar *inspectors* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The inspectors of each session: tables from ids to (STATE LOCK), with a state of Swank's inspector.")

(defvar *last-inspector* (list 0) "The id of the latest inspector, in a list.")

(defun inspectors-of (session)
  "The table of the inspectors of SESSION."
  (sb-ext:with-locked-hash-table (*inspectors*)
    (or (gethash session *inspectors*)
        (setf (gethash session *inspectors*) (make-hash-table :synchronized t)))))

(defun forget-inspectors (session)
  "Release all objects that the client of SESSION inspects."
  (remhash session *inspectors*))

(pushnew 'forget-inspectors *departure-hooks*)

(defmacro with-inspector ((state id) &body body)
  "Run BODY, as code of the client, with STATE, that of its inspector ID, as the one of Swank's inspector. => its value, or (:closed)"
  (let ((inspector (gensym "INSPECTOR")))
    `(let ((,inspector (gethash ,id (inspectors-of (current-session)))))
       (if ,inspector
           (let ((,state (first ,inspector)))
             (with-client-code ((current-session))
               (sb-thread:with-mutex ((second ,inspector))
                 (let ((*istate* ,state) (*inspector-history* (vector)))
                   ,@body))))
           (list :closed)))))

(defun read-content (state)
  "Make the page of STATE's object."
  (setf (istate.content state) (emacs-inspect/istate state)))

(defun open-inspector (object)
  "Inspect OBJECT for the client. => (:inspector ID TITLE CLASS)"
  (let* ((session (current-session))
         (id (1+ (sb-ext:atomic-incf (car *last-inspector*))))
         (*istate* (make-istate :object object))
         (*inspector-history* (vector))
         (name (class-name (class-of object))))
    (read-content *istate*)
    (setf (gethash id (inspectors-of session)) (list *istate* (sb-thread:make-mutex :name "inspector")))
    ;; the client may have disconnected since its request
    (when (session-departed session) (forget-inspectors session))
    (list :inspector id
          (line-text-in-time object +title-limit+)
          (if (and name (symbolp name)) (qualified-name name) (line-text name +title-limit+)))))

(defun inspect-value (source package-text)
  "Inspect the value of SOURCE, one expression, read in the package that PACKAGE-TEXT names, or in the session's.
=> as OPEN-INSPECTOR, or (:no-such-package)"
  (reset-guard-pages)
  (with-client-code ((current-session))
    (let ((package (if package-text (find-designated-package package-text) *package*)))
      (if package
          (let ((*package* package)) (open-inspector (value-of-source source)))
          (list :no-such-package)))))

(defun ends-line-p (entry)
  "True if the text of ENTRY of a page ends a line."
  (if (stringp entry)
      (and (plusp (length entry)) (char= (char entry (1- (length entry))) #\Newline))
      (member (first entry) '(:newline :line))))

(defun content-entries (content start end)
  "The entries of CONTENT, of Swank's inspector, from START to END, or fewer."
  (if (and (listp content) (> start (length content)))
      '()
      (content-range content start end)))

(defun inspected-parts (id start end)
  "The pieces of the entries from START to END, or to the end of that line, of inspector ID. => (:parts (PIECE ...) COUNT-OF-ENTRIES MORE-P)"
  (with-inspector (state id)
    (let* ((count (min (- end start) +page-limit+))
           (entries (content-entries (istate.content state) start (+ start count +entries-to-line-end+ 1)))
           (last (and (plusp count) (position-if #'ends-line-p entries :start (min (1- count) (length entries)))))
           (page (subseq entries 0 (if last (1+ last) (min count (length entries))))))
      (list :parts
            (loop for entry in page append (prepare-part entry state))
            (length page)
            (> (length entries) (length page))))))

(defun inspect-part (id index)
  "Inspect the value INDEX of inspector ID. => as OPEN-INSPECTOR, or (:no-part)"
  (with-inspector (state id)
    (if (< index (length (istate.parts state)))
        (open-inspector (aref (istate.parts state) index))
        (list :no-part))))

(defun call-action (id index)
  "Do the action INDEX of inspector ID. => whether the page was made anew, or (:no-part)"
  (with-inspector (state id)
    (if (< index (length (istate.actions state)))
        (destructuring-bind (function refreshes) (aref (istate.actions state) index)
          (funcall function)
          (when refreshes (read-content state))
          (and refreshes t))
        (list :no-part))))

(defun refresh-inspector (id)
  "Make the page of inspector ID anew. => T"
  (with-inspector (state id)
    (read-content state)
    t))

(defun describe-inspected (id)
  "What DESCRIBE prints for the object of inspector ID."
  (with-inspector (state id)
    (with-bounded-printing ()
      (truncated +description-limit+ (lambda (stream) (describe (istate.object state) stream))))))

(defun close-inspector (id)
  "Release the object of inspector ID. => NIL"
  (remhash id (inspectors-of (current-session)))
  nil)
