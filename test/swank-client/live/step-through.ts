import { expect } from "chai";
import type { Evaluation, SwankClient, types } from "swank-client";
import { returned, stopped, values } from "./outcomes.js";

const CODE = `
(defun inner (x) (* x 2))
(defun middle (x) (let ((y (inner x))) (+ y (inner y))))
(defun outer (n) (list (middle n) (middle (1+ n))))`;

/** Steps into, over and out of code at a breakpoint with a condition, and continues: only that code's own calls are stops. */
export async function stepThrough(client: SwankClient): Promise<void> {
  await values(client, CODE);
  const { id } = await client.breakpoints.set("middle", { condition: "(plusp (inner (first args)))" });
  const evaluation = client.evaluate("(outer 1)");
  const into = await step(evaluation, stopped(await evaluation.next()), "into");
  expect(into.stop.reason).to.equal("step");
  expect(place(into)).to.deep.equal(["(INNER X)", "(MIDDLE 1)"]);
  expect(into.stop.data.locals).to.deep.equal([{ name: "X", value: "1", marks: ["argument"] }]);
  const over = await step(evaluation, into, "over");
  expect(place(over)).to.deep.equal(["(INNER Y)", "(MIDDLE 1)"]);
  const { locals } = await over.stop.frameLocals(over.stop.condition.frames[0]?.index ?? 0);
  expect(locals.map(({ name, value }) => [name, value])).to.have.deep.members([
    ["X", "1"],
    ["Y", "2"],
  ]);
  const out = await step(evaluation, over, "out");
  expect(place(out)).to.deep.equal(["(+ N 1)", "(OUTER 1)"]);
  const second = await step(evaluation, await step(evaluation, out, "over"), "over");
  expect(second.stop.reason).to.equal("breakpoint");
  await client.breakpoints.remove(id);
  await second.stop.continue();
  expect(returned(await evaluation.next()).values).to.deep.equal(["(6 12)"]);
}

async function step(evaluation: Evaluation, { stop }: types.Stopped, mode: types.StepMode): Promise<types.Stopped> {
  await stop.step(mode);
  return stopped(await evaluation.next());
}

function place({ stop: { data } }: types.Stopped): readonly unknown[] {
  return [data.detail.form, data.condition.frames[0]?.call];
}

/** Goes on from an error through RETRY, after a restart was refused for want of its value. */
export async function retry(client: SwankClient): Promise<void> {
  const evaluation = client.evaluate("(list image-policy-unbound)");
  const { stop } = stopped(await evaluation.next());
  const names = stop.restarts.map(({ name }) => name);
  expect(names).to.deep.equal(["CONTINUE", "USE-VALUE", "STORE-VALUE", "ABORT", "RETRY"]);
  const refusal = await stop.invokeRestart(names.indexOf("USE-VALUE")).catch((error: unknown) => error);
  expect(refusal).to.include({ code: "INVALID_ARGUMENT" });
  await values(client, "(defvar image-policy-unbound :bound)");
  await stop.invokeRestart(names.indexOf("RETRY"));
  expect(returned(await evaluation.next()).values).to.deep.equal(["(:BOUND)"]);
}
