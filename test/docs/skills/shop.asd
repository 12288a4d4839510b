(defsystem "shop"
  :components ((:file "shop"))
  :in-order-to ((test-op (test-op "shop/tests"))))

(defsystem "shop/tests"
  :depends-on ("shop" "fiveam")
  :components ((:file "tests"))
  :perform (test-op (operation system)
             (unless (symbol-call :fiveam :run! (find-symbol* :shop :shop-tests))
               (error "Tests of shop failed."))))
