import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { forUsualServer } from "./usual-server.js";

/** Calls a function with the path of a file of Emacs Lisp: a copy that names what the usual server belongs to. */
export async function withHelpers<Result>(file: string, use: (copy: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "sly-"));
  try {
    const copy = join(folder, basename(file));
    await writeFile(copy, forUsualServer(await readFile(file, "utf8")));
    return await use(copy);
  } finally {
    await rm(folder, { recursive: true });
  }
}
