(defsystem "postage"
  :description "Prices of parcels."
  :serial t
  :components ((:file "package") (:file "bands") (:file "parcels"))
  :in-order-to ((test-op (test-op "postage/tests"))))

(defsystem "postage/tests"
  :depends-on ("postage" "fiveam")
  :components ((:file "tests"))
  :perform (test-op (operation system)
             (unless (symbol-call :fiveam :run! (find-symbol* :postage :postage-tests))
               (error "Tests of postage failed."))))
