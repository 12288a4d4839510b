// An agent adds a feature to a copy of examples/feature/lending, with tests and their coverage. Prints docs/feature.md, with its reasoning, calls
// and answers. The exit status is 1 if an answer is not the expected one.
import { addFeature } from "./feature/story.mjs";
import { printStoryOfCopy } from "./support/print-story.mjs";

const INTRODUCTION = `# An agent adds a feature

An agent finds its way in a small system that it has not seen, adds a feature to its files, and tests it until each line of it has run. The page shows
its reasoning, its tool calls and the answers. It edits the files with its host's own tools, shown as \`edit\`. \`node examples/feature.mjs\` writes this
page from a real session, and fails if an answer is not the expected one.

The system: [package.lisp](../examples/feature/lending/package.lisp), [books.lisp](../examples/feature/lending/books.lisp),
[fines.lisp](../examples/feature/lending/fines.lisp), [tests.lisp](../examples/feature/lending/tests.lisp).
`;

await printStoryOfCopy(INTRODUCTION, new URL("feature/lending", import.meta.url), addFeature);
