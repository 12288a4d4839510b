import { html, nothing, type TemplateResult } from "lit-html";
import type { PageSource } from "../../src/page/model.js";
import { lispLines, lispTokens, type Token } from "./lisp-tokens.js";

/** Most characters of a text that are coloured: each piece is an element. */
const MOST_COLOURED = 20_000;

/** A piece of Lisp code with its colour. */
export const tokenView = ({ kind, text }: Token) =>
  kind === "plain" ? text : html`<span class="l-${kind}">${text}</span>`;

/** Lisp code with its colours, for a `code` or `pre` element. */
export function lispCode(code: string): unknown {
  return code.length <= MOST_COLOURED
    ? lispTokens(code).map(tokenView)
    : [lispTokens(code.slice(0, MOST_COLOURED)).map(tokenView), code.slice(MOST_COLOURED)];
}

/** Most characters that are shown of each value in a row. */
const MOST_ARGUMENT = 200;

/** A name and its value in a JSON text. */
const PAIR = /"([^"\\]+)":("(?:[^"\\]|\\.)*"?|[^,"[\]{}]+)/g;

/** The names and values of JSON on a line, also of JSON that is cut; another text as it is. */
export function jsonLine(text: string): unknown {
  const pairs = pairsOf(text);
  if (pairs === undefined) return text.slice(0, MOST_ARGUMENT);
  return pairs.map(([name, value]) => html`<span class="key">${name}</span> ${value.slice(0, MOST_ARGUMENT)}  `);
}

function pairsOf(text: string): readonly (readonly [name: string, value: string])[] | undefined {
  const given = parsed(text);
  if (typeof given === "object" && given !== null && !Array.isArray(given)) {
    return Object.entries(given).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
  }
  if (!text.startsWith('{"')) return undefined;
  return [...text.matchAll(PAIR)].map(([, name = "", value = ""]) => [name, value.replace(/^"|"$/g, "")]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Source with its line numbers and, if it is known, the marked line. */
export function sourceView(source: PageSource): TemplateResult {
  const lines = lispLines(source.lines).map((tokens, index) => {
    const number = source.first + index;
    const isMarked = number === source.line;
    return html`<li class=${isMarked ? "is-marked" : ""} aria-current=${isMarked ? "location" : nothing}>
      <span class="number">${number}</span><code>${tokens.map(tokenView)}</code>
    </li>`;
  });
  const { file, line } = source;
  return html`<figure class="source">
    ${
      file === ""
        ? html`<figcaption>${source.isEvaluated === true ? "Evaluated by the agent: the definition now" : "Not in a file: as Lisp prints it"}</figcaption>`
        : html`<figcaption title=${file}><span class="path">${file}</span>${line > 0 ? `:${line}` : nothing}</figcaption>`
    }
    <ol tabindex="0" aria-label=${line > 0 ? `Source, line ${line} marked` : "Source"}>${lines}</ol>
  </figure>`;
}
