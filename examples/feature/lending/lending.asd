(defsystem "lending"
  :description "Who has which book."
  :serial t
  :components ((:file "package") (:file "books") (:file "fines"))
  :in-order-to ((test-op (test-op "lending/tests"))))

(defsystem "lending/tests"
  :depends-on ("lending" "fiveam")
  :components ((:file "tests"))
  :perform (test-op (operation system)
             (unless (symbol-call :fiveam :run! (find-symbol* :lending :lending-tests))
               (error "Tests of lending failed."))))
