import { writeApiReference } from "../docs/api-reference.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";

/** `npm run docs:api`: writes the API reference to dist/api. */
export async function run() {
  await ensureDependencies();
  const problems = await writeApiReference();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write("The API reference is in dist/api/index.html.\n");
  return problems.length === 0 ? 0 : 1;
}
