import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { keyword, list, symbol } from "sexp-parser";
import { withBoth } from "../bare-evaluate.mjs";
import { ratio } from "../measure.mjs";

const CALLERS = 1000;
const ROUNDS = 21;
/** For questions that take a millisecond: Node compiles the code of a question after some dozens of them. */
const SHORT_ROUNDS = 201;
/** Milliseconds after which the image keeps what it has read of a new file. */
const SETTLED = 3500;

/** Measures questions about code against the requests that Emacs sends for them. */
export function code() {
  return withBoth(async (client, socket) => {
    const folder = await mkdtemp(join(tmpdir(), "swank-bench-"));
    const load = `(let ((*error-output* (make-broadcast-stream))) (load (compile-file ${JSON.stringify(await program(folder))})))`;
    /** @param {string} name @param {...(import("sexp-parser").Sexp | string)} operands */
    const ask = (name, ...operands) => {
      const form = list(symbol(`swank:${name}`), ...operands);
      return async () => {
        if (/^\(:return \(:abort/.test(await socket.roundTrip(socket.message(form))))
          throw new Error(`${name} failed.`);
      };
    };
    try {
      await client.eval(load);
      await ask("interactive-eval", load)();
      await pause(SETTLED);
      return [
        await ratio(
          "code: show-source",
          { what: "code.showSource of a function", run: () => client.code.showSource("bench-target") },
          { what: "swank:find-definitions-for-emacs", run: ask("find-definitions-for-emacs", "BENCH-TARGET") },
          SHORT_ROUNDS,
        ),
        await ratio(
          "code: find-references",
          {
            what: `code.findReferences to a function with ${CALLERS} callers`,
            run: () => client.code.findReferences("bench-target", "callers"),
          },
          { what: "swank:xref", run: ask("xref", keyword("calls"), "BENCH-TARGET") },
          ROUNDS,
        ),
        await ratio(
          "code: apropos",
          { what: 'code.apropos of "stream"', run: () => client.code.apropos("stream") },
          { what: "swank:apropos-list-for-emacs", run: ask("apropos-list-for-emacs", "stream") },
          ROUNDS,
        ),
        await ratio(
          "code: macroexpand",
          { what: "code.macroexpand of a loop", run: () => client.code.macroexpand(LOOP) },
          { what: "swank:swank-macroexpand-1", run: ask("swank-macroexpand-1", LOOP) },
          SHORT_ROUNDS,
        ),
      ];
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

const LOOP = "(loop for x in '(1 2 3) for y from 1 when (oddp x) collect (cons x y))";

/**
 * Writes a file with a function and its callers.
 *
 * @param {string} folder
 */
async function program(folder) {
  const callers = Array.from(
    { length: CALLERS },
    (_, index) => `(defun bench-caller-${index} (x) (list (bench-target x) ${index}))`,
  );
  const file = join(folder, "program.lisp");
  await writeFile(
    file,
    ["(in-package :cl-user)", "(declaim (notinline bench-target))", "(defun bench-target (x) (1+ x))", ...callers].join(
      "\n",
    ),
  );
  return file;
}
