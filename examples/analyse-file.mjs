// Lists the definitions of Lisp files with their lines and sizes, and finds unbalanced code. Needs no Lisp.
// `node examples/analyse-file.mjs FILE...`; the exit status is 1 if a file cannot be read.
import { readFile } from "node:fs/promises";
import {
  elements,
  explain,
  misclosedLines,
  positionAt,
  printSource,
  readWithPositions,
  SexpError,
  scan,
} from "sexp-parser";

/** @typedef {import("sexp-parser").SourceDatum} SourceDatum */
/** @typedef {{ form: SourceDatum, title: string }} Definition */

/** Forms whose body consists of top-level forms. */
const WRAPPERS = new Set(["progn", "eval-when", "locally"]);

/** The longest title that is shown. */
const TITLE_WIDTH = 60;

/** @param {number} count @param {string} noun */
function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Prints a node on one line, without the comments and line breaks in it. @param {SourceDatum} node */
function oneLine(node) {
  const parts = elements(node);
  if (node.kind !== "list") return printSource(node);
  return `(${parts.map((part) => printSource(part).replace(/\s+/g, " ")).join(" ")})`;
}

/** `defun square`, `defmethod area :around ((shape circle))` @param {readonly SourceDatum[]} parts @param {string} feature */
function titleOf([operator, name, ...rest], feature) {
  const signature = rest.findIndex((part) => part.kind === "list");
  const isMethod = operator !== undefined && /defmethod$/i.test(printSource(operator));
  const shown = isMethod ? rest.slice(0, signature + 1) : [];
  const title = [operator, name, ...shown].flatMap((part) => (part === undefined ? [] : oneLine(part))).join(" ");
  return `${feature}${title.length > TITLE_WIDTH ? `${title.slice(0, TITLE_WIDTH)}...` : title}`;
}

/**
 * The definitions in a form: the form itself, or those inside `progn`, `eval-when`, `#+feature` and the like.
 *
 * @param {SourceDatum} form
 * @param {string} [feature] the `#+feature` before it
 * @returns {Definition[]}
 */
function definitionsIn(form, feature = "") {
  const parts = elements(form);
  if (form.kind === "conditional") {
    const [condition, conditional] = parts;
    if (condition === undefined || conditional === undefined) return [];
    return definitionsIn(conditional, `${feature}${form.open}${oneLine(condition)} `);
  }
  const operator = form.kind === "list" && parts[0]?.kind === "atom" ? parts[0].text.toLowerCase() : "";
  if (/^([^:]+::?)?def/.test(operator)) return [{ form, title: titleOf(parts, feature) }];
  return WRAPPERS.has(operator) ? parts.slice(1).flatMap((part) => definitionsIn(part, feature)) : [];
}

/** @param {string} text @param {Definition} definition */
function definitionLine(text, { form, title }) {
  const first = positionAt(text, form.start).line;
  const last = positionAt(text, form.end - 1).line;
  const lines = `${first}-${last}`.padStart(11);
  return `${lines} ${`${last - first + 1}`.padStart(5)} ${`${form.end - form.start}`.padStart(7)}  ${title}`;
}

/** Lists the definitions of text that can be read. @param {string} text */
function report(text) {
  const forms = elements(readWithPositions(text));
  const definitions = forms.flatMap((form) => definitionsIn(form));
  if (definitions.length > 0) console.log("      lines count   chars  definition");
  for (const definition of definitions) console.log(definitionLine(text, definition));
  console.log(`  ${counted(definitions.length, "definition")} in ${counted(forms.length, "top-level form")}`);
}

/** The text before an error up to the end of its last complete form. @param {string} text @param {number} offset */
function readablePart(text, offset) {
  const last = scan(text).forms.findLast(({ end }) => end <= offset);
  return text.slice(0, last?.end ?? 0);
}

/** Tells where the code is wrong, and lists the definitions before that. @param {string} text @param {SexpError} error */
function reportError(text, error) {
  console.log(explain(error, text).replace(/^/gm, "  "));
  for (const { line, count } of misclosedLines(text)) {
    const change = error.code === "UNEXPECTED_CLOSE" ? "has too many" : "lacks";
    console.log(`  By its indentation, line ${line} ${change} ${count} closing parenthes${count === 1 ? "is" : "es"}.`);
  }
  console.log("Before the error:");
  report(readablePart(text, error.offset));
}

/** @param {string} file */
async function analyse(file) {
  console.log(`${file}:`);
  const text = await readFile(file, "utf8");
  try {
    report(text);
  } catch (error) {
    if (!(error instanceof SexpError)) throw error;
    reportError(text, error);
    process.exitCode = 1;
  }
}

/** @param {unknown} error */
function explainFailure(error) {
  console.error(`  ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

for (const file of process.argv.slice(2)) await analyse(file).catch(explainFailure);
