import { launch } from "swank-client";

const client = await launch();

const evaluation = client.evaluate(`
  (dotimes (step 3 :finished)
    (format t "step ~d~%" step)
    (sleep 0.1))`);

for await (const event of evaluation) {
  if (event.type === "output") process.stdout.write(event.text);
}

const { values } = await evaluation.result();
console.log(values);

await client.close();
