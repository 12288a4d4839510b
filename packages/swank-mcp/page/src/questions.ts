import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { PageQuestion } from "../../src/page/model.js";
import { lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { elapsed } from "./format.js";
import { bar, icon } from "./icons.js";

/**
 * Milliseconds for which a new question cannot be allowed, so that a key or click that was meant for something else allows nothing.
 */
const GUARD_TIME = 700;

/** When each question was first shown. */
const shown = new Map<number, number>();

/** The questions that were answered here, until the server says that they are gone. */
const answered = new Set<number>();

/** The questions that wait for the person's answer, the oldest first. */
export function questionsView(context: PageContext): TemplateResult | typeof nothing {
  const { questions } = context.state;
  for (const number of shown.keys()) {
    if (!questions.some((question) => question.number === number)) {
      shown.delete(number);
      answered.delete(number);
    }
  }
  if (questions.length === 0) return nothing;
  return html`<section class="questions" aria-label="Questions">
    ${repeat(
      questions,
      ({ number }) => number,
      (question) => questionView(context, question),
    )}
  </section>`;
}

function questionView(context: PageContext, question: PageQuestion): TemplateResult {
  const { number, agent, action, particulars, circumstances } = question;
  const now = Date.now();
  if (!shown.has(number)) welcome(context, number, now);
  const left = Math.max(0, question.until - now);
  return html`<article class="question" id="question-${number}" aria-labelledby="question-${number}-title">
    <header>
      <h2 id="question-${number}-title">${icon("ask")}<span><b>${agent}</b> asks to <b>${action}</b></span></h2>
      <span class="left" title="Without an answer it is refused then">
        ${bar(left / Math.max(1, question.until - question.asked), "Time left")}<span>${elapsed(left)} left</span>
      </span>
    </header>
    <div class="particulars" tabindex="0" role="group" aria-label="What ${agent} asks for">
      ${circumstances.map((text) => html`<p class="circumstance">${text}</p>`)}
      ${particulars.map(([label, text]) => particularView(label, text))}
    </div>
    ${context.canAct ? answersView(context, question, now) : nothing}
  </article>`;
}

function particularView(label: string, text: string): TemplateResult {
  const isCode = label === "Code";
  return html`<div class="particular">
    <h3>${label}</h3>
    <pre class=${isCode ? "code" : ""}>${isCode ? lispCode(text) : text}</pre>
  </div>`;
}

/** The first button refuses. Those that allow wait a moment after the question has appeared. */
function answersView(context: PageContext, question: PageQuestion, now: number): TemplateResult {
  const { number, forStop } = question;
  const isDone = answered.has(number);
  const isGuarded = isDone || now - (shown.get(number) ?? now) < GUARD_TIME;
  const answer = (word: "yes" | "no" | "stop") => async () => {
    answered.add(number);
    context.update();
    const reply = await context.act({ act: "answer", question: number, answer: word }, { quiet: true });
    if (reply.ok) return;
    answered.delete(number);
    context.notify(reply.error.message, { isError: true, remedy: reply.error.remedy });
  };
  return html`<footer>
    <button class="button refuse" ?disabled=${isDone} @click=${answer("no")}>Refuse</button>
    <span class="spring"></span>
    ${
      forStop
        ? html`<button class="button" ?disabled=${isGuarded} @click=${answer("stop")}
            title="Also what it asks later for this stop">Allow for this stop</button>`
        : nothing
    }
    <button class="button primary" ?disabled=${isGuarded} @click=${answer("yes")}>Allow</button>
  </footer>`;
}

/** Focuses the text of a new question, but only if the person is at nothing else. */
function welcome(context: PageContext, number: number, now: number): void {
  shown.set(number, now);
  setTimeout(() => context.update(), GUARD_TIME + 20);
  requestAnimationFrame(() => {
    if (document.activeElement === document.body || document.activeElement === null) focusQuestion();
  });
}

/** Focuses the text of the oldest question. */
export function focusQuestion(): void {
  document.querySelector<HTMLElement>(".question .particulars")?.focus();
}
