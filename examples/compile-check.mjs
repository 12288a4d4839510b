// Compiles Lisp files for continuous integration, and prints the compiler's notes as `file:line:column: severity: message`.
// `node examples/compile-check.mjs FILE...` compiles and loads the files in this order, in a new Lisp that writes no compiled files beside
// them; the exit status is 1 if there is an error or a warning. Style warnings and notes are printed only.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { launch, Sources, SwankError } from "swank-client";
import { compileFile } from "swank-client/swank";

/** @typedef {import("swank-client").types.CompilerNote} CompilerNote */
/** @typedef {{ line: number, column: number }} Place */

const START = { line: 1, column: 1 };

/** @param {string} file @param {Place} place @param {string} severity @param {string} message */
function print(file, { line, column }, severity, message) {
  console.log(`${relative("", file)}:${line}:${column}: ${severity}: ${message.trim().replace(/\s+/g, " ")}`);
}

/** Prints notes in the order of the text. @param {readonly CompilerNote[]} notes @param {string} compiled */
async function printNotes(notes, compiled) {
  const sources = new Sources();
  const placed = await Promise.all(notes.map(async (note) => ({ note, found: await sources.locate(note.location) })));
  const lines = placed.map(({ note, found }) => {
    return found.status === "found" ? { note, place: found, file: found.path } : { note, place: START, file: compiled };
  });
  lines.sort(({ place: a }, { place: b }) => a.line - b.line || a.column - b.column);
  for (const { note, place, file = compiled } of lines) print(file, place, note.severity, note.message);
}

/**
 * Compiles a file, prints its notes, and loads it for the files after it.
 *
 * @param {import("swank-client").SwankClient} client
 * @param {string} file
 * @param {string} faslFolder
 * @returns {Promise<boolean>} whether it has neither errors nor warnings
 */
async function check(client, file, faslFolder) {
  try {
    const { succeeded, notes, loadError } = await compileFile(client.lisp, file, { faslFolder, load: "always" });
    await printNotes(notes, file);
    if (loadError !== undefined) print(file, START, "error", loadError.message);
    return succeeded && loadError === undefined;
  } catch (error) {
    // The file does not exist.
    if (!(error instanceof SwankError && error.code === "REQUEST_FAILED")) throw error;
    print(file, START, "error", error.message);
    return false;
  }
}

/** @param {readonly string[]} files @returns {Promise<number>} the number of files that failed */
async function checkAll(files) {
  const faslFolder = await mkdtemp(join(tmpdir(), "compile-check-"));
  try {
    return await withLisp(async (client) => {
      let failed = 0;
      for (const file of files) if (!(await check(client, resolve(file), `${faslFolder}/`))) failed++;
      return failed;
    });
  } finally {
    await rm(faslFolder, { recursive: true });
  }
}

/**
 * Does a task in a new image, which ends with the task.
 *
 * @template Result
 * @param {(client: import("swank-client").SwankClient) => Promise<Result>} task
 */
async function withLisp(task) {
  const client = await launch();
  try {
    return await task(client);
  } finally {
    await client.close();
  }
}

const files = process.argv.slice(2);
const failed = await checkAll(files);
const counted = `${files.length} ${files.length === 1 ? "file" : "files"}`;
console.log(failed === 0 ? `${counted} compiled` : `${failed} of ${counted} failed`);
process.exitCode = failed === 0 ? 0 : 1;
