import { expect } from "chai";
import { liveClient } from "./live-image.js";

/** The function by which a client takes its place behind the others. */
const MOVE_BEHIND_OTHERS = `(find-symbol "MOVE-BEHIND-OTHERS" (find-if (lambda (package) (search "SWANK-CLIENT/CONNECTION/" (package-name package)))
                                                    (list-all-packages)))`;

/** In the image: what a client does when it joins, `fakes` of connections, and how Swank enters them. */
function withFakes(body: string): string {
  return `(let* ((move-behind-others ${MOVE_BEHIND_OTHERS})
                 (real swank::*emacs-connection*)
                 (before (copy-list swank::*connections*))
                 (lock (find-symbol "*CONNECTION-LOCK*" "SWANK")))
            (labels ((fakes (count) (loop repeat count collect (copy-structure real)))
                     (push-now (connection) (push connection swank::*connections*))
                     (enter (connection)
                       (if lock
                           (swank/backend:call-with-lock-held (symbol-value lock) (lambda () (push-now connection)))
                           (push-now connection)))
                     (join (connection) (funcall move-behind-others connection))
                     (missing (connections) (count-if-not (lambda (each) (member each swank::*connections*)) connections)))
              (unwind-protect (progn ${body})
                (setf swank::*connections* before))))`;
}

describe("Registration of a client in Swank's list of connections", () => {
  const image = liveClient();

  it("removes no other client, however many connect simultaneously", async () => {
    const code = withFakes(`
      (let ((ours (fakes 4)) (others (fakes 2000)) (done nil))
        (mapc #'enter ours)
        (let ((threads (loop for each in ours
                             collect (let ((each each)) (sb-thread:make-thread (lambda () (loop (join each) (when done (return)))))))))
          (dolist (each others) (enter each) (sleep 1/10000))
          (setf done t)
          (mapc #'sb-thread:join-thread threads)
          (list (missing ours) (missing others) (and (member (first swank::*connections*) ours) t))))`);
    expect(await image.values(code)).to.deep.equal(["(0 0 NIL)"]);
  });

  it("does not add a client whose connection was lost in between", async () => {
    const code = withFakes(`
      (let ((lost (first (fakes 1))))
        (setf (slot-value lost 'swank::socket-io) (let ((stream (make-string-input-stream ""))) (close stream) stream))
        (join lost)
        (list (missing (list lost)) (missing before)))`);
    expect(await image.values(code)).to.deep.equal(["(1 0)"]);
  });
});
