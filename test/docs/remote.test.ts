import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { attachedOrigin } from "#swank-mcp/session/open-image.js";

const PAGE = new URL("../../../docs/remote.md", import.meta.url);

describe("docs/remote.md", () => {
  it("quotes the warning of a connection that leaves the machine", async () => {
    const { warning } = attachedOrigin({ host: "lisp.example", port: 4005 }, { port: 4005, isLoopback: false });
    expect(await readFile(PAGE, "utf8")).to.include(`\n${warning}\n`);
  });
});
