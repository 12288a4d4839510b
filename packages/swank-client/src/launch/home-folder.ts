import { homedir } from "node:os";

/** The user's home folder. A user whom the system does not know, as in some containers, is given the root. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir();
  } catch {
    return "/";
  }
}
