import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { decode, read } from "sexp-parser";
import { connect, connect as connectTo, type SwankClient } from "swank-client";
import { openConnection, type TransportOpener, tcpOpener } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { startRealSwank } from "../../support/real-swank.js";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { evaluate, values } from "./outcomes.js";

/** The names of our modules that an image has loaded. */
const LOADED = `(cl:loop :for package :in (cl:list-all-packages)
  :for name := (cl:package-name package)
  :for end := (cl:and (cl:eql 0 (cl:search "SWANK-CLIENT/" name)) (cl:position #\\/ name :start 13))
  :when (cl:and end (cl:get (cl:intern name "KEYWORD") :ready)) :collect (cl:string-downcase (cl:subseq name 13 end)))`;

/** A thread takes the compiler's lock, until a variable is true. What is evaluated meanwhile must not be compiled. */
const HOLD = `(cl:progn (cl:defvar cl-user::*free* cl:nil)
  (cl:defun cl-user::loaded () ${LOADED})
  (sb-thread:make-thread (cl:lambda () (sb-c::with-world-lock () (cl:loop :until cl-user::*free* :do (cl:sleep 1/100)))))
  (cl:sleep 1/5))`;

describe("A client that connects", function () {
  this.timeout(120_000);
  const image = liveImage();
  const ask = (client: SwankClient, form: string) => client.request(read(form), { label: form.slice(0, 40) });
  const loaded = async (client: SwankClient) => decode.list(decode.string)(await ask(client, LOADED));

  it("loads what guards its connection, and the rest when it evaluates", async () => {
    const client = await image.connect();
    expect(await loaded(client)).to.deep.equal(["connection"]);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(await loaded(client)).to.have.members(["connection", "evaluate"]);
  });

  it("does not wait for a thread that has the compiler's lock", async () => {
    const plain = await image.connect({ runtime: false });
    await ask(plain, HOLD);
    const client = await image.connect();
    expect(await ask(client, "(cl-user::loaded)")).to.include("connection");
    await ask(plain, "(cl:setf cl-user::*free* cl:t)");
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("makes no folder for a server that is not there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "cache-of-client-"));
    await rejection(connectTo({ port: 1, cacheDir: join(folder, "none") }), "CONNECTION_REFUSED");
    expect(await readdir(folder)).to.deep.equal([]);
    await rm(folder, { recursive: true });
  });
});

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
  if (isBeyondSlynk("Only its sentinel changes the list.")) return;
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

describe("Indentation rules of new macros", () => {
  if (isBeyondSlynk("It sends all rules with its first answer, whatever the client asks.")) return;
  const image = liveImage();

  it("are computed and sent for other clients, and not for this one", async () => {
    // Loading the runtime makes packages, too, and Swank may look at them before the client has switched that off.
    await (await image.connect()).prepare();
    let received = "";
    const transport: TransportOpener = async (...args) => {
      const factory = await tcpOpener({ port: image.swank.port })(...args);
      return ({ onData, onClose }) =>
        factory({
          onData(chunk) {
            received += Buffer.from(chunk).toString("latin1");
            onData(chunk);
          },
          onClose,
        });
    };
    const client = await connect({ transport });
    const { connection } = await openConnection(tcpOpener({ port: image.swank.port }));
    let ofOther = "";
    connection.on("event", (message) => {
      if (message.type === "indentation-update") ofOther += message.rules.map(({ name }) => name).join(" ");
    });
    try {
      await values(client, '(make-package "INDENTED") (defmacro indented::with-care (() &body body) `(progn ,@body))');
      while (!ofOther.includes("with-care")) {
        // A new package makes Swank look at the macros of all packages. It may have looked before the macro was defined.
        await values(client, '(make-package (gensym "INDENTED-"))');
        await connection.request(read("(swank:connection-info)"), { label: "connection-info" });
        await pause(10);
      }
      // not even those of the macros that were there before it connected
      expect(received).to.not.include("indentation-update");
    } finally {
      await connection.close();
      await client.close();
    }
  });
});

/** Makes the runtime call a function that fails after each evaluation. */
const BREAK_RETURNING = `(loop for package in (list-all-packages)
  for hooks = (and (eql 0 (search "SWANK-CLIENT/EVALUATIONS" (package-name package))) (find-symbol "*RETURN-HOOKS*" package))
  when hooks do (push (lambda (&rest arguments) (declare (ignore arguments)) (length 7)) (symbol-value hooks)))`;

describe("Faults of the runtime", () => {
  const image = liveImage();

  it("are recorded, and break nothing", async () => {
    const client = await image.connect();
    expect(await client.faults()).to.deep.equal([]);
    await evaluate(client, BREAK_RETURNING);
    image.swank.expectedFaults.push(/SEQUENCE/);
    const earlier = (await client.faults()).length;
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    const faults = await client.faults();
    expect(faults).to.have.lengthOf(earlier + 1);
    const fault = faults[earlier];
    expect(fault?.number).to.equal(earlier + 1);
    expect(fault?.type).to.match(/TYPE-ERROR$/);
    expect(fault?.text).to.match(/7.* SEQUENCE/);
    expect(fault?.functions).to.not.be.empty;
    expect(Math.abs(Date.now() - (fault?.time ?? 0))).to.be.lessThan(60_000);
  });

  it("are none without the runtime", async () => {
    const client = await image.connect({ runtime: false });
    expect(await client.faults()).to.be.an("array");
  });
});

/** Takes a symbol out of all packages, as if SBCL had renamed it. */
const HIDE = `(let ((symbol (find-symbol "MAP-ALLOCATED-OBJECTS" "SB-VM")))
  (dolist (package (list-all-packages))
    (sb-ext:unlock-package package)
    (when (eq symbol (find-symbol "MAP-ALLOCATED-OBJECTS" package)) (ignore-errors (unintern symbol package))))
  (setf *hidden* t))`;

describe("SwankClient with an SBCL that lacks an internal", () => {
  it("says NOT_SUPPORTED with its name where it is needed, and does everything else", async () => {
    const cacheDir = await mkdtemp(join(tmpdir(), "missing-internal-"));
    const image = await startRealSwank();
    const client = await connect({ port: image.port, cacheDir });
    try {
      image.expectedFaults.push(/lacks/);
      image.type("(defvar *hidden* nil)");
      image.type(HIDE);
      while ((await values(client, "(and (boundp '*hidden*) *hidden*)"))[0] !== "T");
      const { message } = await rejection(client.program.heap.summary(), "NOT_SUPPORTED");
      expect(message).to.match(/^.*: This SBCL, .*, lacks SB-VM::MAP-ALLOCATED-OBJECTS\.$/);
      expect(await client.completions("mapca", "CL-USER")).to.include("mapcar");
    } finally {
      await client.close();
      await image.stop();
      await rm(cacheDir, { recursive: true });
    }
  });
});
