import { readFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";

/** The page with the session, which a test compares with what the example prints. */
const SESSION = "docs/session.md";

/** Steps that the picture leaves out, by the first line of their call: it shows how an error becomes a value. */
const LEFT_OUT = ["describe-symbol", "list-definitions"];

/** Characters of a line. Longer ones are cut. */
const COLUMNS = 92;

const LINE = 19;
const CHARACTER = 8.4;
const MARGIN = 24;
const BAR = 32;

/** Colours for pages of both kinds, with a contrast of at least 4.5 to 1. */
const THEMES = {
  light: {
    back: "#ffffff",
    edge: "#d0d7de",
    text: "#24292f",
    call: "#0550ae",
    bad: "#b3141c",
    good: "#116329",
    said: "#57606a",
  },
  dark: {
    back: "#0d1117",
    edge: "#30363d",
    text: "#e6edf3",
    call: "#79c0ff",
    bad: "#ff7b72",
    good: "#7ee787",
    said: "#9198a1",
  },
};

/** @typedef {{ kind: "call" | "answer" | "said", lines: readonly string[] }} Part */

/**
 * The pictures of the session, by their paths: README.md shows the one that fits the reader's page.
 *
 * @returns {Promise<Record<string, string>>}
 */
export async function pictures() {
  const parts = shortened(partsOf(await readFile(inRepository(SESSION), "utf8")));
  return Object.fromEntries(
    Object.entries(THEMES).map(([name, theme]) => [`docs/images/session-${name}.svg`, drawn(parts, theme)]),
  );
}

/** What an agent says, calls and gets, in order. @param {string} page @returns {Part[]} */
export function partsOf(page) {
  const [, ...rest] = page.split(/^```$/m);
  /** @type {Part[]} */
  const parts = [];
  rest.forEach((piece, index) => {
    if (index % 2 === 1) parts.push(...saidIn(piece));
    else {
      const lines = piece.trim().split("\n");
      const isCall = /^[a-z]+(?:[_-][a-z]+)+$/.test(lines[0] ?? "");
      parts.push({ kind: isCall ? "call" : "answer", lines });
    }
  });
  return parts;
}

/** @param {string} text @returns {Part[]} */
function saidIn(text) {
  const line = text.trim().replaceAll("\n", " ");
  return line === "" ? [] : [{ kind: "said", lines: [line] }];
}

/** The parts from the call that fails on. @param {readonly Part[]} parts */
function shortened(parts) {
  const calls = parts.flatMap(({ kind }, index) => (kind === "call" ? [index] : []));
  const shown = parts.slice(calls[1]);
  return shown.filter((part, index) => {
    const call = part.kind === "answer" ? shown[index - 1] : part;
    return !LEFT_OUT.includes(call?.lines[0] ?? "");
  });
}

/** @param {readonly Part[]} parts @param {typeof THEMES.light} theme */
function drawn(parts, theme) {
  const rows = parts.flatMap((part, index) => [
    ...(index === 0 || part.kind === "answer" ? [] : [{ kind: "gap", text: "" }]),
    ...rowsOf(part),
  ]);
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = BAR + rows.length * LINE + 2 * MARGIN - LINE / 2;
  const texts = rows.flatMap(({ kind, text }, index) =>
    text === ""
      ? []
      : [`<text class="${kind}" x="${MARGIN}" y="${BAR + MARGIN + index * LINE}">${escaped(cut(text))}</text>`],
  );
  const dots = [0, 1, 2].map(
    (index) => `<circle cx="${MARGIN + index * 20}" cy="${BAR / 2 + 4}" r="6" fill="${theme.edge}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>An agent corrects a function while the call that failed waits, and gets the value of that call</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: ${theme.text}; white-space: pre; }
.call { fill: ${theme.call}; font-weight: 600; }
.bad { fill: ${theme.bad}; font-weight: 600; }
.good { fill: ${theme.good}; font-weight: 600; }
.said { fill: ${theme.said}; font-style: italic; }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.back}" stroke="${theme.edge}"/>
${dots.join("\n")}
${texts.join("\n")}
</svg>
`;
}

/** @param {Part} part */
function rowsOf({ kind, lines }) {
  if (kind === "said") return wrapped(lines[0] ?? "").map((text) => ({ kind, text }));
  if (kind === "answer") return lines.filter((text) => text !== "").map((text) => ({ kind: answerKind(text), text }));
  const [tool = "", ...args] = lines;
  const [first = "", ...more] = args.map((text, index) => (index === 0 ? text.replace(/^\w+: /, "") : text));
  return [{ kind, text: `> ${tool} ${first}` }, ...more.map((text) => ({ kind, text: `    ${text}` }))];
}

/** @param {string} text */
function answerKind(text) {
  if (/^\[[A-Z]+\] /.test(text)) return "bad";
  return text.startsWith("=> ") ? "good" : "text";
}

/** @param {string} text */
function wrapped(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= COLUMNS) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

/** @param {string} text */
function cut(text) {
  return text.length <= COLUMNS ? text : `${text.slice(0, COLUMNS - 1)}…`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
