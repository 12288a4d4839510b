import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

/** How often a function is encapsulated. Once in about thirty times it would fail, and end the image. */
const ROUNDS = 100;

/** Compiles into the memory in which SBCL before 2.5 makes code jump straight to what it calls. */
const compiled = (lambda: string) => `
  (cl:let ((space (cl:find-symbol "*COMPILE-TO-MEMORY-SPACE*" "SB-C")))
    (cl:progv (cl:and space (cl:list space)) '(:immobile) (cl:compile cl:nil '${lambda}))
    cl:t)`;

/** Threads of the user's that compile, until `*compiling*` is false. */
const COMPILE = `
  (cl:progn
    (cl:setf (cl:symbol-value 'cl-user::*compiling*) cl:t)
    (cl:loop :repeat 2
      :do (sb-thread:make-thread
            (cl:lambda ()
              (cl:loop :while (cl:symbol-value 'cl-user::*compiling*)
                       :do ${compiled("(cl:lambda (x) (cl:list (cl:car x) (cl:length x)))")})))))`;

/** Calls of functions that are encapsulated while clients are there. */
const CALLS = `(cl:lambda (x)
  (sb-thread:make-thread x) (sb-thread:terminate-thread x) (sb-ext:make-timer x) (sb-ext:save-lisp-and-die x) (sb-ext:exit))`;

const ENCAPSULATED = "(sb-kernel:closurep (cl:symbol-function 'sb-thread:make-thread))";

describe("Encapsulation of a function while other threads compile", () => {
  const image = liveImage();

  beforeEach(() => image.ask(COMPILE));
  afterEach(() => image.ask("(cl:setf (cl:symbol-value 'cl-user::*compiling*) cl:nil)"));

  const setAndRemove = async (client: SwankClient): Promise<void> => {
    await image.ask(compiled("(cl:lambda () (cl-user::called 1))"));
    const breakpoint = await client.breakpoints.set("called");
    await client.breakpoints.remove(breakpoint.id);
  };

  it("by a breakpoint leaves the image usable although compiled code calls the function directly", async () => {
    const client = await image.connect();
    await values(client, "(defun called (x) x)");
    for (let round = 0; round < ROUNDS; round += 1) await setAndRemove(client);
    expect(await values(client, "(called 1)")).to.deep.equal(["1"]);
  });

  it("by the first client leaves the image usable although compiled code calls Lisp's functions directly", async () => {
    for (let round = 0; round < ROUNDS / 2; round += 1) {
      await image.ask(compiled(CALLS));
      const client = await image.connect();
      expect(await values(client, "(+ 1 1)")).to.deep.equal(["2"]);
      await client.close();
      while ((await image.ask(ENCAPSULATED)) !== "NIL") await pause(5);
    }
  });
});
