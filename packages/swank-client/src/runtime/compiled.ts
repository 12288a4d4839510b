import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { RuntimeKind } from "../base/abilities.js";
import { KeptFiles, keyOf, removeAbandoned, removeQuietly } from "../files/kept.js";
import { defaultCacheFolder, prepareCache, readOwnFile } from "../files/own.js";
import type { ModuleFolder } from "./loader.js";
import { allModules, moduleFor, readLisp } from "./runtime.js";

/** The name of its folder in the cache. */
const FOLDER = "runtime";

/** Number of Lisps and versions of the runtime for which modules are kept. The least recently used are removed. */
const KEPT = 6;

/** Characters of the texts in a file that an image compiles. The user's compilations wait while it compiles one, for 0.1 to 0.15 s. */
const COMPILED_AT_ONCE = 20_000;

/** The folders that are being looked for. */
const sought = new Map<string, Promise<ModuleFolder | undefined>>();

/**
 * The folder with the runtime for one Lisp, which is made if there is none: the texts of all modules, and what images have compiled from them.
 * Never rejects.
 *
 * @param kind - Which runtime.
 * @param cacheDir - The folder for the cache; default: the user's.
 * @param lisp - Strings that identify the Lisp: its version, that of Swank, and so on.
 * @returns `undefined` if no folder can be used
 */
export function moduleFolder(
  kind: RuntimeKind,
  cacheDir: string | undefined,
  lisp: readonly unknown[],
): Promise<ModuleFolder | undefined> {
  const wanted = resolve(cacheDir ?? defaultCacheFolder());
  const key = lispKey(kind, lisp);
  const place = join(wanted, key);
  // A hundred clients that connect at once would all write the texts.
  const found = sought.get(place) ?? find(kind, wanted, key).catch(() => undefined);
  sought.set(place, found);
  return found.finally(() => sought.delete(place));
}

async function find(kind: RuntimeKind, wanted: string, key: string): Promise<ModuleFolder | undefined> {
  const { path: cache } = await prepareCache(wanted);
  const kept = await KeptFiles.inside(cache, FOLDER, KEPT);
  const path = await kept?.folderOf(key);
  if (kept === undefined || path === undefined) return undefined;
  const id = (await idIn(path)) ?? (await fill(kind, kept, key));
  if (id === undefined) return undefined;
  void tidy(kept, key);
  return { path, id };
}

function lispKey(kind: RuntimeKind, lisp: readonly unknown[]): string {
  const { version } = moduleFor(kind, "connection");
  const loading = ["load-module", "default-settings"].map((name) => readLisp(`port/${name}`));
  return keyOf([version, loading, COMPILED_AT_ONCE, WITH_MACRO.source, lisp]);
}

/** The secret by which an image recognizes a folder. It is written last. */
function idIn(folder: string): Promise<string | undefined> {
  return readOwnFile(join(folder, "id"));
}

/** Fills an empty folder with the texts, at once. => its id, also if another process has filled it */
async function fill(kind: RuntimeKind, kept: KeptFiles, key: string): Promise<string | undefined> {
  const draft = await kept.makeDraft(key);
  try {
    const texts = allModules(kind).flatMap(({ name, texts }) =>
      joinTexts(texts).map((text, number) => [`${name}-${number}.lisp`, text] as const),
    );
    const files = [...texts, ["id", randomBytes(16).toString("hex")] as const];
    await Promise.all(files.map(([name, text]) => writeFile(join(draft, name), text, { mode: 0o600 })));
    await kept.adopt(draft, key);
  } catch {
    await removeQuietly(draft);
  }
  return idIn(kept.pathOf(key));
}

/** Notes that a folder is used. Removes what has not been used for a long time, and what processes that were killed have left. Never rejects. */
async function tidy(kept: KeptFiles, key: string): Promise<void> {
  await kept.noteUse(key);
  await kept.prune();
  // Images write their drafts in the folder itself.
  await removeAbandoned(kept.pathOf(key));
}

/** A text that defines a macro. Later texts can use it when the functions that its expansion calls are loaded, not only compiled. */
const WITH_MACRO = /^\(defmacro /m;

/** The texts, which end in a line feed, joined into fewer: a compiled file names its symbols once, and calls its own functions directly. */
function joinTexts(texts: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let isFull = true;
  for (const text of texts) {
    const last = isFull ? undefined : joined.pop();
    if (last !== undefined && last.length + text.length > COMPILED_AT_ONCE) joined.push(last, text);
    else joined.push(`${last ?? ""}${text}`);
    isFull = WITH_MACRO.test(text);
  }
  return joined;
}
