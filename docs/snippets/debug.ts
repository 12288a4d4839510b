import { launch } from "swank-client";

const client = await launch(); // starts SBCL; connect({ port: 4005 }) connects to a running image

const evaluation = client.evaluate("(defun divide (a b) (/ a b)) (divide 1 0)");
const outcome = await evaluation.next();

if (outcome.status === "stopped") {
  const { stop } = outcome;
  console.log(stop.condition.type);

  const { frames } = await stop.frames();
  for (const { name, value } of frames[1]?.locals ?? []) console.log(name, value);

  await client.eval("(defun divide (a b) (if (zerop b) 0 (/ a b)))");
  const retry = stop.restarts.find(({ name }) => name === "RETRY");
  if (retry !== undefined) await stop.invokeRestart(retry.index);

  const next = await evaluation.next();
  if (next.status === "returned") console.log(next.values);
}

await client.close(); // also ends the image
