// An agent repairs a copy of examples/testing/postage, whose tests fail. Prints docs/testing.md, with its reasoning, calls and answers.
// The exit status is 1 if an answer is not the expected one.
import { rm } from "node:fs/promises";
import { printStoryOfCopy } from "./support/print-story.mjs";
import { repair } from "./testing/story.mjs";

const INTRODUCTION = `# An agent repairs a system whose tests fail

An agent runs the tests of a small system, stops in the first failure, and finds two mistakes. It corrects them in the image, and saves the
corrections to the files. The page shows its reasoning, its tool calls and the answers. \`node examples/testing.mjs\` writes this page from a real
session, and fails if an answer is not the expected one.

The system: [package.lisp](../examples/testing/postage/package.lisp), [bands.lisp](../examples/testing/postage/bands.lisp),
[parcels.lisp](../examples/testing/postage/parcels.lisp), [tests.lisp](../examples/testing/postage/tests.lisp).
`;

await printStoryOfCopy(INTRODUCTION, new URL("testing/postage", import.meta.url), (agent, folder) =>
  repair(agent, () => rm(`${folder}/fasl`, { recursive: true })),
);
