import { html, nothing, type TemplateResult } from "lit-html";
import { type PageError, pageError } from "./context.js";

/** A value that is asked from the server, with what is known of it. A new request ends the one before. */
export class Loading<Value> {
  /** The last value; kept while a newer one loads, and if that fails. */
  value: Value | undefined;
  error: PageError | undefined;
  readonly #update: () => void;
  #request: AbortController | undefined;

  constructor(update: () => void) {
    this.#update = update;
  }

  get isLoading(): boolean {
    return this.#request !== undefined;
  }

  /** Starts a request. Its value, or its error, is shown when it comes. */
  load(ask: (signal: AbortSignal) => Promise<Value>): void {
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const end = (outcome: () => void) => {
      if (this.#request !== request) return;
      this.#request = undefined;
      outcome();
      this.#update();
    };
    ask(request.signal).then(
      (value) =>
        end(() => {
          this.value = value;
          this.error = undefined;
        }),
      (reason) =>
        end(() => {
          this.error = pageError(reason);
        }),
    );
    this.#update();
  }

  /** Ends the request, if there is one. */
  stop(): void {
    this.#request?.abort();
    this.#request = undefined;
    this.#update();
  }
}

/** Shows the value, with the error if the last request failed. `what`: e.g. `frames`, for the words while they load. */
export function loadingView<Value>(
  loading: Loading<Value>,
  what: string,
  view: (value: Value) => TemplateResult | typeof nothing,
): TemplateResult {
  return html`${loading.error === undefined ? nothing : errorView(loading.error)}${
    loading.value !== undefined
      ? view(loading.value)
      : loading.isLoading
        ? html`<p class="quiet loading" role="status">Loading ${what}…</p>`
        : nothing
  }`;
}

/** An error of the server, with its remedy. */
export function errorView(error: PageError): TemplateResult {
  return html`<p class="problem" role="alert"><b>${error.code}</b> ${error.message} ${error.remedy}</p>`;
}
