// An agent finds a memory leak by the path that keeps objects alive. Prints docs/leak.md, with its reasoning, calls and answers.
// The exit status is 1 if an answer is not the expected one.
import { leak } from "./leak/story.mjs";
import { Agent, WrongTurn } from "./support/agent.mjs";

const INTRODUCTION = `# An agent finds a memory leak

An agent asks what a piece of the program leaves behind in the heap, takes one of these objects, and asks what keeps it alive. It corrects the
program while that runs, and checks the correction in the same way. The page shows its reasoning, its tool calls and the answers.
\`node examples/leak.mjs\` writes this page from a real session, and fails if an answer is not the expected one.

The program: [visits.lisp](../examples/leak/visits.lisp).
`;

const agent = new Agent((text) => process.stdout.write(text));
process.stdout.write(`${INTRODUCTION}\n`);
try {
  await agent.start();
  await leak(agent);
} catch (error) {
  if (!(error instanceof WrongTurn)) throw error;
  process.stderr.write(`Wrong turn: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await agent.end();
}
