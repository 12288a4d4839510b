// An agent finds a memory leak by the path that keeps objects alive. Prints docs/leak.md, with its reasoning, calls and answers.
// The exit status is 1 if an answer is not the expected one.
import { leak } from "./leak/story.mjs";
import { printStory } from "./support/print-story.mjs";

const INTRODUCTION = `# An agent finds a memory leak

An agent asks what a piece of the program leaves behind in the heap, takes one of these objects, and asks what keeps it alive. It corrects the
program while that runs, and checks the correction in the same way. The page shows its reasoning, its tool calls and the answers.
\`node examples/leak.mjs\` writes this page from a real session, and fails if an answer is not the expected one.

The program: [visits.lisp](../examples/leak/visits.lisp).
`;

await printStory(INTRODUCTION, async (agent) => {
  await agent.start();
  await leak(agent);
});
