import { readdir, readFile } from "node:fs/promises";
import { skillEntry } from "@modelcontextprotocol/server/ext/skills";

/** The folder of the skills, beside that of the modules. The bundle has what this module finds there when it is built. */
const FOLDER = new URL("../../skills/", import.meta.url);

const FILE = "SKILL.md";

/** A skill: what clients are told about it, with its digest, and its text. */
export interface ServedSkill {
  readonly entry: Awaited<ReturnType<typeof skillEntry>>;
  readonly text: string;
}

export async function readSkills(): Promise<readonly ServedSkill[]> {
  const names = (await readdir(FOLDER)).sort();
  return Promise.all(names.map(readSkill));
}

async function readSkill(name: string): Promise<ServedSkill> {
  const text = await readFile(new URL(`${name}/${FILE}`, FOLDER), "utf8");
  return { entry: await skillEntry(name, { [FILE]: text }), text };
}
