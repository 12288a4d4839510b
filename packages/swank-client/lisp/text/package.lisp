;;;; Text: names, files, forms and regular expressions. Nothing here knows of SBCL or of a session.

(defpackage #:swank-client/text
  (:documentation "Names, files and regular expressions. Nothing here knows of SBCL or of a session.")
  (:use #:common-lisp #:swank-client/any-lisp)
  (:export #:absolute-file-name #:binary-text-p #:blank-p #:definition-line #:directory-of-image #:late-search #:line-start #:name-cases
           #:named-file #:one-of-names-p #:parsed-name #:parsed-package #:position-of #:search-time-left-p #:searcher #:setf-text-p
           #:short-file-name #:shown-file #:source-text #:text-in #:trimmed #:with-name-syntax #:with-searcher #:within-search-time))

(defpackage #:swank-client/forms
  (:documentation "The forms of a text, and the names in them, found without evaluating or interning.")
  (:use #:common-lisp #:swank-client/text)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/any-lisp #:after-exhaustion #:lisp-operator)
  (:export #:block-comment-end #:conditional-p #:defined-text #:defining-kind #:definition-head #:element-spans #:first-line-end
           #:first-position #:form-after #:form-inner-heads #:form-number #:head-kind #:head-made-kind #:head-means-p #:head-names-p
           #:head-text #:head-uses-only-p #:list-spans #:map-tokens #:mentions-syntax-p #:operator-name #:package-marker #:skipped-end
           #:text-head #:token-char-p #:token-end #:token-positions #:top-level-form-end #:top-level-form-gap #:top-level-form-start
           #:top-level-forms))

(defpackage #:swank-client/analyses
  (:documentation "The texts of files with their forms, kept between requests.")
  (:use #:common-lisp #:swank-client/any-lisp #:swank-client/forms)
  (:import-from #:swank-client/text #:source-text)
  (:export #:analysis-format #:analysis-forms #:analysis-heads #:analysis-inner-heads #:analysis-loaded-octets #:analysis-of-file
           #:analysis-packages #:analysis-stamp #:analysis-text #:make-analysis #:mentions-readtable-p #:settled-stamp-p #:stamp-date))
