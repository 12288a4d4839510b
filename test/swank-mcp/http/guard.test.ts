import { expect } from "chai";
import { allowedHosts, allowedOrigins } from "#swank-mcp/http/guard.js";

const LOCAL = { port: 7787, host: "127.0.0.1", publicUrl: undefined };

describe("allowedHosts", () => {
  it("are this machine's names with the port", () => {
    expect([...allowedHosts(LOCAL)]).to.have.members(["localhost:7787", "127.0.0.1:7787", "[::1]:7787"]);
  });

  it("need no port if it is that of HTTP", () => {
    expect([...allowedHosts({ ...LOCAL, port: 80 })]).to.include.members(["localhost", "localhost:80"]);
  });

  it("are also those of the public URL, with and without the standard port", () => {
    const hosts = allowedHosts({ ...LOCAL, host: "::", publicUrl: new URL("https://Lisp.example/x") });
    expect([...hosts]).to.include.members(["lisp.example", "lisp.example:443", "[::]:7787"]);
    const odd = allowedHosts({ ...LOCAL, publicUrl: new URL("http://lisp.example:8080") });
    expect([...odd])
      .to.include("lisp.example:8080")
      .and.not.include("lisp.example");
  });
});

describe("allowedOrigins", () => {
  it("are those of this machine's names and of the public URL", () => {
    const publicUrl = new URL("https://lisp.example/x");
    expect([...allowedOrigins({ ...LOCAL, publicUrl })]).to.have.members([
      "http://localhost:7787",
      "http://127.0.0.1:7787",
      "http://[::1]:7787",
      "https://lisp.example",
    ]);
  });
});
