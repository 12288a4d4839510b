// An agent debugs five programs with the tools of swank-mcp. Prints its reasoning, calls and answers as Markdown.
// `node examples/debugging.mjs [recursion] [pipeline] [race] [deadlock] [slow]`; the exit status is 1 if an answer is not the expected one.
import { deadlock, slow } from "./debugging/running.mjs";
import { pipeline, race, recursion } from "./debugging/stories.mjs";
import { Agent, WrongTurn } from "./support/agent.mjs";

const STORIES = {
  recursion: { title: "A wrong base case in a recursion", tell: recursion },
  pipeline: { title: "A bad slot value in a pipeline of objects", tell: pipeline },
  race: { title: "A race between two threads", tell: race },
  deadlock: { title: "A deadlock, found and freed", tell: deadlock },
  slow: { title: "A job made more than 30 times faster", tell: slow },
};

async function play(name) {
  const { title, tell } = STORIES[name];
  process.stdout.write(`## ${title}\n\nThe program: [${name}.lisp](../examples/debugging/${name}.lisp).\n\n`);
  const agent = new Agent((text) => process.stdout.write(text));
  await agent.start();
  try {
    await tell(agent);
  } finally {
    await agent.end();
  }
}

try {
  const names = process.argv.slice(2);
  for (const name of names.length > 0 ? names : Object.keys(STORIES)) await play(name);
} catch (error) {
  if (!(error instanceof WrongTurn)) throw error;
  process.stderr.write(`Wrong turn: ${error.message}\n`);
  process.exitCode = 1;
}
