/** The definitions that the tests of Swank's functions ask about. */
export const DEFINITIONS = `
  (defun sc-add (x &optional (y 2)) "Adds." (+ x y))
  (defun sc-caller (z) (sc-add z))
  (defmacro sc-twice (form) \`(progn ,form ,form))
  (defclass sc-animal () ()) (defclass sc-dog (sc-animal) ())
  (defvar *sc-value* 1)`;
