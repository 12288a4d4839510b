;;;; The program in the image: its definitions as data, with their texts, files and systems.

(defpackage #:swank-client/loaded-texts
  (:documentation "Source files now, and as they were loaded.")
  (:use #:common-lisp #:swank-client/sbcl-code #:swank-client/analyses #:swank-client/texts)
  (:import-from #:swank-client/any-names #:runtime-package-p #:user-package)
  (:import-from #:swank-client/any-lisp #:file-stamp #:nil-on #:or-nil)
  (:import-from #:swank-client/any-asdf #:translated-pathname)
  (:import-from #:swank-client/text #:named-file)
  (:import-from #:swank-client/ledger #:replaced-date)
  (:export #:*files* #:code-sources #:compiled-since-p #:date-decides-p #:date-when-compiled #:dated-as-now-p #:file-analysis #:file-date #:file-format
           #:file-forms #:file-initial-package #:file-now #:file-syntax #:file-text #:file-truename #:file-whole-p #:image-start
           #:loaded-source #:loaded-version #:note-unchanged-text #:text-as-loaded #:unchanged-text-p #:with-files))

(defpackage #:swank-client/definitions
  (:documentation "The definitions in the image, as data.")
  (:use #:common-lisp #:swank-client/text #:swank-client/forms #:swank-client/session)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-conditions #:condition-class)
  (:import-from #:swank-client/sbcl-stack #:reset-guard-pages)
  (:import-from #:swank-client/sbcl-code #:code-start-positions)
  (:import-from #:swank-client/analyses #:analysis-heads #:analysis-inner-heads)
  (:import-from #:swank-client/printing #:line-text-in-time)
  (:import-from #:swank-client/ledger #:methods-of #:source-kinds)
  (:import-from #:swank-client/names #:implementation-package-p #:may-name-p #:package-not-found)
  (:import-from #:swank-client/calls #:method-form)
  (:import-from #:swank-client/loaded-texts #:file-analysis #:file-forms #:file-text)
  (:export #:all-definitions #:class-definition #:class-kind #:defines-p #:definition-kind #:definition-method #:definition-name
           #:definition-record #:definition-span #:definition-text #:definitions-of #:element-texts #:eql-text #:evaluation-of
           #:form-number-of #:found-p #:kind-definitions #:lambda-list-specializers #:make-definition #:method-definitions #:method-parts
           #:method-text-p #:name-text #:named-span #:nearest #:octets #:program-package-p #:qualifiers-match-p #:record-path
           #:recorded-length #:same-length-p #:span #:specializers-match-p #:with-code-session))

(defpackage #:swank-client/recorded
  (:documentation "Definitions as SBCL and clients have recorded them.")
  (:use #:common-lisp #:swank-client/forms #:swank-client/names #:swank-client/loaded-texts #:swank-client/definitions)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-compiler #:comma-form #:comma-p #:make-comma)
  (:import-from #:swank-client/sbcl-code #:lisps-method-code-p #:names-only-source-p)
  (:import-from #:swank-client/text #:parsed-package #:trimmed #:with-name-syntax)
  (:import-from #:swank-client/analyses #:analysis-packages #:mentions-readtable-p)
  (:import-from #:swank-client/printing #:truncated)
  (:import-from #:swank-client/texts #:saved-files)
  (:import-from #:swank-client/ledger #:methods-of)
  (:import-from #:swank-client/reading #:data-readtable #:prefix-of-unknown #:read-without-interning)
  (:export #:+definition-text-limit+ #:compared-form #:definition-file-name #:definition-home #:definition-plist #:definitions-of-program
           #:designated-name #:enclosing-span #:evaluated-package #:evaluated-place #:file-line-ends #:file-packages #:form-of-plist
           #:in-package-name #:lambda-text #:method-of-name #:own-form #:own-text #:package-at #:path-now #:pretty-text #:program-file-p
           #:text-in-file-p #:transparent-operator-p))

(defpackage #:swank-client/image
  (:documentation "The files and systems of the program, and resetting a session.")
  (:use #:common-lisp #:swank-client/sbcl-system #:swank-client/any-asdf #:swank-client/text #:swank-client/ledger #:swank-client/session
        #:swank-client/loaded-texts #:swank-client/definitions)
  (:import-from #:swank-client/any-names #:user-package)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-locks #:world-lock-taken-p)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-functions #:clear-compiler-info)
  (:import-from #:swank-client/sbcl-code #:code-file #:function-code-source)
  (:import-from #:swank-client/forms #:form-after #:form-number #:top-level-form-start)
  (:import-from #:swank-client/analyses #:analysis-forms #:analysis-of-file #:analysis-text)
  (:import-from #:swank-client/printing #:line-text-in-time #:with-printing-time)
  (:import-from #:swank-client/texts #:saved-files)
  (:import-from #:swank-client/names #:+suggestions+ #:slip-p)
  (:import-from #:swank-client/recorded #:definition-plist #:evaluated-package #:evaluated-place #:form-of-plist #:method-of-name #:path-now
                #:text-in-file-p)
  (:export #:+searched-files-limit+ #:below-p #:definitions #:described-source #:entry-definition #:existing-files #:folder-entries #:foreign-classes
           #:loaded-files #:named-folder #:physical-pathname #:remove-definition #:reset #:searched-files #:similar-systems #:source-entry #:source-file-p #:system-files
           #:system-of #:system-of-file #:with-file-systems))
