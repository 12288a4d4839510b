import { html, nothing, type TemplateResult } from "lit-html";
import type { PageSource } from "../../src/page/model.js";
import { lispLines, lispTokens, type Token } from "./lisp-tokens.js";

/** Most characters of a text that are coloured: each piece is an element. */
const MOST_COLOURED = 20_000;

const tokenView = ({ kind, text }: Token) => (kind === "plain" ? text : html`<span class="l-${kind}">${text}</span>`);

/** Lisp code with its colours, for a `code` or `pre` element. */
export function lispCode(code: string): unknown {
  return code.length <= MOST_COLOURED
    ? lispTokens(code).map(tokenView)
    : [lispTokens(code.slice(0, MOST_COLOURED)).map(tokenView), code.slice(MOST_COLOURED)];
}

/** Source with its line numbers and the marked line. */
export function sourceView(source: PageSource): TemplateResult {
  const lines = lispLines(source.lines).map((tokens, index) => {
    const number = source.first + index;
    const isMarked = number === source.line;
    return html`<li class=${isMarked ? "is-marked" : ""} aria-current=${isMarked ? "location" : nothing}>
      <span class="number">${number}</span><code>${tokens.map(tokenView)}</code>
    </li>`;
  });
  return html`<figure class="source">
    <figcaption title=${source.file}><span class="path">${source.file}</span>:${source.line}</figcaption>
    <ol tabindex="0" aria-label="Source, line ${source.line} marked">${lines}</ol>
  </figure>`;
}
