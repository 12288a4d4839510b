import { launch } from "swank-client";
import * as swank from "swank-client/swank";

const client = await launch();
await client.eval(`
  (defun average (numbers)
    "The arithmetic mean of NUMBERS."
    (/ (reduce #'+ numbers) (length numbers)))
  (defun averages (rows)
    (mapcar #'average rows))
  (defun grade (marks)
    (if (> (average marks) 5) :passed :failed))
  (defvar *marks* '((4 6) (7 9)))`);

for (const { designator, meanings } of await client.run(swank.definitions.aproposListForEmacs, "average", {
  externalOnly: false,
})) {
  console.log(designator, meanings);
}

const users = await client.run(swank.definitions.xref, "calls", "average");
console.log(users?.map(({ name }) => name).sort());

const symbol = await client.describeSymbol("average");
if (symbol.status === "found") for (const { kind, name } of symbol.meanings) console.log(kind, name);

const inspector = await swank.Inspector.open(client.lisp, "*marks*");
const { parts } = await inspector.parts();
for (const part of parts) if (part.kind === "value") console.log(part.index, part.text);
await inspector.close();

await client.close();
