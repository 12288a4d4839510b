import { createHash } from "node:crypto";
import { list, print, type Sexp, symbol } from "sexp-parser";
import { type ClientMessage, ownCode, printMessage } from "../wire/sent.js";

/**
 * The names in Slynk, SLY's server, for those in Swank, from which it comes. Each pattern matches in one symbol as code writes it, with its package or
 * a quote before it.
 */
const NAMES: readonly (readonly [swank: RegExp, slynk: string])[] = [
  // the packages: slynk.lisp, slynk-backend.lisp, slynk-rpc.lisp, backend/sbcl.lisp
  [/^([#']*)swank(?=:)/i, "$1slynk"],
  [/^([#']*)swank\/(backend|sbcl|rpc)(?=:)/i, "$1slynk-$2"],
  // slynk.lisp: `slynk-debugger-hook`, `*slynk-debugger-condition*`, `*slynk-io-package*`, `*slynk-wire-protocol-version*`; with a package, all such
  // names, as `slynk-require` and `slynk-macroexpand-1`
  [/((?:^|[:'])\*?)swank-(?=(?:debugger-hook|debugger-condition|io-package|wire-protocol-version)\b)/i, "$1slynk-"],
  [/^([#']*slynk::?\*?)swank-/i, "$1slynk-"],
  // slynk.lisp, "Debugger"
  [/((?:^|[:'])\*?)sldb-/i, "$1sly-db-"],
  [/invoke-slime-debugger/i, "invoke-sly-debugger"],
  // contrib/slynk-trace-dialog.lisp
  [/^([#']*)swank-trace-dialog(?=:)/i, "$1slynk-trace-dialog"],
  // slynk.lisp, "Interrupt handling"
  [/\*slime-interrupts-enabled\*/i, "*sly-interrupts-enabled*"],
];

/** What else differs in the files of the runtime. */
const TEXTS: readonly (readonly [swank: string, slynk: string])[] = [
  // the packages
  ["#:swank/sbcl ", "#:slynk-sbcl "],
  ['"SWANK/BACKEND"', '"SLYNK-BACKEND"'],
  ['"SWANK/SBCL"', '"SLYNK-SBCL"'],
  ['"SWANK"', '"SLYNK"'],
  ['"SWANK-LOADER"', '"SLYNK-LOADER"'],
  // the server's code is in packages with either name: this library's have that of Swank
  [`'("SB-" "SLYNK")`, `'("SB-" "SWANK" "SLYNK")`],
  // the threads: slynk.lisp, `spawn-worker-thread`, `spawn-threads-for-connection`, `setup-server`
  ['"worker"', '"slynk-worker"'],
  ['"swank-indentation-cache-thread"', '"slynk-indentation-cache-thread"'],
  ['"Swank "', '"Slynk "'],
  // the system: slynk.asd
  ['"swank.asd"', '"slynk.asd"'],
  ['"swank"', '"slynk"'],
  ['"*SWANK-WIRE-PROTOCOL-VERSION*"', '"*SLYNK-WIRE-PROTOCOL-VERSION*"'],
];

/** A comment, the beginning of a string, a name in bars or a character, which stay as they are; or a symbol. */
const TOKEN = /;[^\n]*|"|\|[^|]*\||#\\[^\s()]*|[^\s()";|`,@]+/g;

const MAY_DIFFER = /swank|sldb|slime/i;

const STAYS = /^(?:[;|]|#\\)/;

/** Lisp code with the names of Slynk. A message can be as long as a frame, so no pattern matches a string. */
function withNames(text: string): string {
  if (!MAY_DIFFER.test(text)) return text;
  const pieces: string[] = [];
  let copied = 0;
  const tokens = new RegExp(TOKEN);
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found;
    if (token === '"') tokens.lastIndex = stringEnd(text, found.index);
    else if (MAY_DIFFER.test(token) && !STAYS.test(token)) {
      pieces.push(text.slice(copied, found.index), slynkName(token));
      copied = tokens.lastIndex;
    }
  }
  return pieces.join("") + text.slice(copied);
}

/** The index behind the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  const special = /["\\]/g;
  special.lastIndex = start + 1;
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    if (found[0] === '"') return special.lastIndex;
    special.lastIndex += 1;
  }
  return text.length;
}

/** The name of a symbol in Slynk, as code writes it. */
export function slynkName(token: string): string {
  return NAMES.reduce((name, [swank, slynk]) => name.replace(swank, slynk), token);
}

/** SLY's contribs that have the functions of SLIME's, by the names of SLIME's. */
export const SLYNK_CONTRIBS: Readonly<Record<string, string>> = {
  "swank-arglists": "slynk/arglists",
  "swank-package-fu": "slynk/package-fu",
  "swank-trace-dialog": "slynk/trace-dialog",
};

/** A file of the runtime, for an image with Slynk. */
export function slynkText(text: string): string {
  return TEXTS.reduce((all, [swank, slynk]) => all.replaceAll(swank, slynk), withNames(text));
}

/** The version of the runtime for Slynk. It differs, because an image can have both servers. */
export function slynkVersion(version: string): string {
  const hash = createHash("sha256").update(version).update(String(NAMES)).update(String(TEXTS));
  return hash.digest("hex").slice(0, 12).toUpperCase();
}

/**
 * Gives printed code the names of Slynk, and those of the runtime for Slynk, in either case.
 *
 * @param version - That of the runtime for Swank.
 */
function translator(version: string): (text: string) => string {
  const [known, own] = [new RegExp(version, "gi"), slynkVersion(version)];
  return (text) => withNames(text).replaceAll(known, own);
}

/**
 * Prints messages for an image with the runtime for Slynk, which makes Slynk read all of Lisp's syntax on this connection (`further-guards`).
 *
 * @param version - That of the runtime for Swank, in the names that messages have.
 */
export function slynkPrinter(version: string): (message: ClientMessage) => string {
  const translated = translator(version);
  return (message) => translated(printMessage(message));
}

/**
 * The same for a new connection, on which Slynk reads a part of Lisp's syntax: no comments, no line ends, no names in bars, and no name with SWANK in
 * it as it is (slynk-rpc.lisp, `translating-read`). It gets each form as a string.
 */
export function slynkOpeningPrinter(version: string): (message: ClientMessage) => string {
  const translated = translator(version);
  return (message) => {
    const text = printMessage(message);
    if (message.type !== "emacs-rex") return text;
    return printMessage({ ...message, form: evaluated(translated(print(message.form))) });
  };
}

/** Evaluates a text that Lisp reads as Slynk reads messages. */
function evaluated(text: string): Sexp {
  const read = list(symbol("cl:read-from-string"), text);
  const inPackage = list(symbol("cl:let"), list(list(symbol("cl:*package*"), IO_PACKAGE)), read);
  return list(symbol("cl:eval"), list(symbol("cl:with-standard-io-syntax"), inPackage));
}

const IO_PACKAGE = ownCode("slynk::*slynk-io-package*");
