import { expect } from "chai";
import { interruptCompiling } from "./interrupt-compiling.js";
import { liveImage } from "./live-image.js";
import { aborted, stopped, values } from "./outcomes.js";

/** Notes whether the calls of C functions that hold locks can be interrupted. */
const WATCH = `
  (progn
    (defvar *interruptible* '())
    (loop for (package name) in '(("SB-C" "COMPRESS") ("SB-C" "DECOMPRESS") ("SB-SYS" "SAP-FOREIGN-SYMBOL"))
          for symbol = (find-symbol name package)
          when (and symbol (fboundp symbol))
            do (sb-int:encapsulate symbol 'watch
                                   (lambda (function &rest arguments)
                                     (push sb-sys:*interrupts-enabled* *interruptible*)
                                     (apply function arguments))))
    (setf (get :compiling :watched) t))`;

/** Whether such a call can be interrupted now. */
const INTERRUPTIBLE = `(cl:progn (sb-sys:sap-foreign-symbol (sb-sys:int-sap 8)) (cl:first cl-user::*interruptible*))`;

describe("Interrupts during compilation", () => {
  const image = liveImage();

  it("are deferred while a lock of the C library is held and a client is connected", async () => {
    image.swank.type(WATCH);
    while ((await image.ask("(cl:get :compiling :watched)")) !== "T");
    const client = await image.connect();
    await values(client, "(setf *interruptible* '()) (funcall (compile nil '(lambda () 1)))");
    const evaluation = client.evaluate('(error "with all its frames")');
    await stopped(await evaluation.next()).stop.frames(0, 100);
    aborted(await evaluation.abort());
    expect(await image.ask("(cl:remove-duplicates cl-user::*interruptible*)")).to.equal("(NIL)");
    await client.close();
    // Afterwards the image is as it was.
    while ((await image.ask(INTERRUPTIBLE)) !== "T");
  });

  it("leave the image able to compile after 100 aborts and 100 interrupts", async () => {
    const client = await image.connect();
    for (let round = 0; round < 200; round += 1) await interruptCompiling(client, round % 2 === 0);
    expect(await values(client, "(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
  });
});
