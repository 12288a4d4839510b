import type { SwankClient, types } from "swank-client";
import type { LiveImage } from "./live-image.js";

const PROGRAM = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defun key-of (n) (let ((keys '())) (dotimes (i n keys) (setf keys (append keys (list i))))))
(defun order (n) (length (key-of n)))
(defun orders (count) (loop repeat count sum (order 300)))
(defun spin (seconds) (let ((end (+ (get-internal-real-time) (* seconds internal-time-units-per-second)))) (loop while (< (get-internal-real-time) end))))
(defun tick (n) n)
(defun ticks (n) (dotimes (i n) (tick i)))
(defun down (n) (if (plusp n) (1+ (down (1- n))) 0))
(defun leave () (throw 'out 1))
(defclass item () ()) (defclass book (item) ())
(defgeneric act (x))
(defmethod act ((x item)) 1) (defmethod act ((x book)) (call-next-method))
(defmethod act :around ((x t)) (sleep 0.001) (call-next-method))
(defun fill-lists (n) (loop repeat n collect (make-array 1000)))
(in-package :cl-user)`;

/** The program's functions, as code names them. */
export const NAMES = "key-of order orders spin tick ticks down leave act fill-lists"
  .split(" ")
  .map((name) => `shop::${name}`);

/** Profiles code or some seconds to the end. */
export async function profiled(
  client: SwankClient,
  source: types.ProfileSource,
  options: types.ProfileOptions = {},
): Promise<types.Profile> {
  return client.program.profile(source, options).result();
}

/** Connects to the image, and loads the program there. */
export async function clientWithProgram(image: LiveImage): Promise<SwankClient> {
  const client = await image.connect();
  await client.eval(PROGRAM);
  return client;
}
