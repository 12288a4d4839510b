import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { launch, Sources } from "swank-client";
import { compileFile } from "swank-client/swank";

const client = await launch();
const file = join(await mkdtemp(join(tmpdir(), "shapes-")), "shapes.lisp");
await writeFile(
  file,
  `(defun area (width height)
  (* width heigth))

(defun describe-area (shape) ; 𝒜 is one character for Lisp, and two columns for an editor
  (format nil "𝒜 = ~d" (square-of shape)))
`,
);

const { succeeded, notes } = await compileFile(client.lisp, file, { load: "always" }); // `true` loads only what has no warnings
console.log(succeeded ? "compiled" : "compiled with warnings");

const sources = new Sources();
for (const { severity, message, location } of notes) {
  const found = await sources.locate(location);
  const where = found.status === "found" ? `${basename(file)}:${found.line}:${found.column}` : basename(file);
  console.log(`${where}: ${severity}: ${message}`);
}

console.log(await client.eval("(fboundp 'area)"));

await client.close();
