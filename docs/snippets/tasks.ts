import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { launch, SwankError } from "swank-client";

const client = await launch();
const folder = await mkdtemp(join(tmpdir(), "prices-"));
const file = join(folder, "prices.lisp");
await writeFile(file, `(format t "The total is ~d.~%" (* 3 (rate)))`);

const task = client.code.loadSystem({ file }, { timeout: 60_000 });
for await (const event of task) {
  if (event.type === "progress") console.log(event.text.replace(`${basename(folder)}/`, ""));
  else if (event.type === "output") console.log(event.stream, event.text.trim());
  else {
    console.log(event.stop.condition.message);
    await client.eval("(defun rate () 2)");
    await event.stop.continue(); // calls the function again
  }
}
const loaded = await task.result();
if (loaded.status === "loading") console.log(loaded.compiled, "file compiled,", loaded.notes.length, "note");

// Without a loop, `result` says that the code has stopped.
const evaluation = client.evaluate("(/ 1 0)");
await evaluation.result().catch((error) => {
  if (error instanceof SwankError) console.log(error.code);
});
await evaluation.abort();

await client.close();
