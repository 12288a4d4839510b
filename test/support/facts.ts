import { expect } from "chai";

/** Expects that a text has these parts in this order. Within a part, `…` stands for any text. */
export function expectFacts(text: string, ...facts: readonly string[]): void {
  let rest = text;
  for (const fact of facts.flatMap((each) => each.split("…"))) {
    expect(rest, `in ${text}`).to.include(fact);
    rest = rest.slice(rest.indexOf(fact) + fact.length);
  }
}
