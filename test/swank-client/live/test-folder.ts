import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is empty when a test begins, and gone after it. */
export interface TestFolder {
  readonly path: string;
  /** The path of something in it. */
  at(name: string): string;
  /** Writes a file in it. => its path */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** Gives each test of the suite that calls it a folder. */
export function testFolder(): TestFolder {
  let path = "";
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "live-"));
  });
  afterEach(() => rm(path, { recursive: true }));
  return {
    get path() {
      return path;
    },
    at: (name) => join(path, name),
    async write(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
  };
}
