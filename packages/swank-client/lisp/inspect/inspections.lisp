;;;; The inspected objects of each client. Swank has one inspector for the whole image, in *ISTATE*; each of these has its own state.

(in-package #:swank-client/inspect)

(defconstant +title-limit+ 500 "Characters shown of an inspected object.")

(defstruct inspection
  "An inspected object. It lives until its client closes the inspector, resets the session or disconnects."
  id
  object
  ;; the state of Swank's inspector, for methods that use it
  state
  ;; the entries of the object's page: a list, or a lazy list of Swank
  (content '())
  ;; the position of an entry in the content -> the number of its part
  (numbers (make-hash-table))
  ;; number -> (:value OBJECT) or (:action FUNCTION REFRESHES)
  (parts (make-array 10 :adjustable t :fill-pointer 0))
  (lock (sb-thread:make-mutex :name "inspector")))

(defvar *inspections* (make-hash-table :test 'eq :weakness :key :synchronized t) "The inspections of each session: tables by id.")

(defvar *last-id* (list 0) "The id of the latest inspection, in a list.")

(defun inspections-of (session)
  "The table of the inspections of SESSION."
  (sb-ext:with-locked-hash-table (*inspections*)
    (or (gethash session *inspections*)
        (setf (gethash session *inspections*) (make-hash-table :synchronized t)))))

(defun forget-inspections (session)
  "Release all objects that the client of SESSION inspects."
  (remhash session *inspections*))

(pushnew 'forget-inspections *departure-hooks*)

(defmacro with-inspector-of ((inspection) &body body)
  "Run BODY, the user's methods for inspecting, with the state of INSPECTION as that of Swank's inspector."
  `(let ((*istate* (inspection-state ,inspection))
         (*inspector-history* (make-array 10 :adjustable t :fill-pointer 0)))
     ,@body))

(defmacro with-client-code ((session) &body body)
  "Run BODY as code of SESSION, with its package and syntax."
  `(with-code-of (,session)
     (with-session-settings (,session)
       (with-code-syntax (,session (session-package-now ,session))
         ,@body))))

(defmacro with-inspection ((inspection id) &body body)
  "Run BODY, as code of the client, with its INSPECTION that has ID. => its value, or (:closed)"
  (let ((session (gensym "SESSION")))
    `(let* ((,session (current-session))
            (,inspection (gethash ,id (inspections-of ,session))))
       (if ,inspection
           (with-client-code (,session) ,@body)
           (list :closed)))))

(defun read-content (inspection)
  "Ask the object of INSPECTION for its page. The numbers of parts that were listed before stay valid."
  (let ((content (with-inspector-of (inspection) (emacs-inspect/istate (inspection-state inspection)))))
    (sb-thread:with-mutex ((inspection-lock inspection))
      (setf (inspection-content inspection) content
            (inspection-numbers inspection) (make-hash-table)))))

(defun open-inspection (object)
  "Inspect OBJECT for the current session. => (:inspector ID TITLE CLASS)"
  (let* ((session (current-session))
         (id (1+ (sb-ext:atomic-incf (car *last-id*))))
         (inspection (make-inspection :id id :object object :state (make-istate :object object)))
         (name (class-name (class-of object))))
    (read-content inspection)
    (setf (gethash id (inspections-of session)) inspection)
    ;; the client may have disconnected since its request
    (when (session-departed session) (forget-inspections session))
    (list :inspector id
          (with-printing-time (line-text-in-time object +title-limit+))
          (if (and name (symbolp name)) (qualified-name name) (line-text name +title-limit+)))))
