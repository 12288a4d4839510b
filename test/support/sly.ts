import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { USUAL_SERVER } from "./real-swank.js";

/** What differs in forms for Emacs or for the Lisp if SLY and Slynk take the place of SLIME and Swank. */
const NAMES: readonly (readonly [slime: RegExp, sly: string])[] = [
  [/\bslime-display-threads\b/g, "sly--display-threads"],
  // what C-c C-c says
  [/\bCompilation finished\b/g, "Compiled and loaded"],
  [/\*slime-threads\*/g, "*sly-threads for sbcl*"],
  [/\bslime(?=-|\)|$)/g, "sly"],
  [/\bsldb-/g, "sly-db-"],
  [/\bswank\/(backend|sbcl|rpc)(?=:)/g, "slynk-$1"],
  [/\bswank(?=:)/g, "slynk"],
];

/** A form as it is, or for SLY and Slynk if `TEST_SERVER` says so. */
export function forUsualServer(text: string): string {
  if (USUAL_SERVER === "swank") return text;
  return NAMES.reduce((all, [slime, sly]) => all.replaceAll(slime, sly), text);
}

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
