import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { readConfig } from "swank-mcp";

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), "utf8");

describe("the files for GitHub", () => {
  it("ask in each form for the output of swank-mcp doctor, and name only options that exist", async () => {
    const forms = (await readdir(new URL(".github/ISSUE_TEMPLATE/", ROOT))).filter((file) => file !== "config.yml");
    expect(forms).to.have.length(3);
    for (const form of forms) {
      const text = await read(`.github/ISSUE_TEMPLATE/${form}`);
      expect(text, form).to.include("npx -y swank-mcp doctor");
      for (const [, flag = ""] of text.matchAll(/`(--[\w-]+)/g)) readConfig([flag, "/tmp/log"], {});
    }
    expect(readConfig(["doctor"], {}).command).to.equal("doctor");
  });

  it("name the tests that hold what is promised", async () => {
    const named = [...(await read("SECURITY.md")).matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, path = ""]) => path);
    expect(named).to.have.length(3);
    for (const path of named)
      expect(
        ["", "test/swank-mcp/live/"].some((folder) => existsSync(new URL(`${folder}${path}`, ROOT))),
        path,
      ).to.equal(true);
  });
});
