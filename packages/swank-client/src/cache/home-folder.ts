import { homedir } from "node:os";

/** The user's home folder. For a user unknown to the system, as in some containers, it is the root folder. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir();
  } catch {
    return "/";
  }
}
