import { launch } from "swank-client";
import * as swank from "swank-client/swank";

const lisp = await launch();
await lisp.eval(`
  (defun average (numbers)
    "The arithmetic mean of NUMBERS."
    (/ (reduce #'+ numbers) (length numbers)))
  (defun averages (rows)
    (mapcar #'average rows))
  (defun grade (marks)
    (if (> (average marks) 5) :passed :failed))
  (defvar *marks* '((4 6) (7 9)))`);

for (const { designator, meanings } of await lisp.run(swank.definitions.aproposListForEmacs, "average", {
  externalOnly: false,
})) {
  console.log(designator, meanings);
}

const users = await lisp.run(swank.definitions.xref, "calls", "average");
console.log(users?.map(({ name }) => name).sort());

const symbol = await lisp.describeSymbol("average");
if (symbol.status === "found") for (const { kind, name } of symbol.meanings) console.log(kind, name);

const inspector = await lisp.inspect("*marks*");
const { parts } = await inspector.parts();
for (const part of parts) if (part.kind === "value") console.log(part.index, part.text);
await inspector.close();

await lisp.close();
