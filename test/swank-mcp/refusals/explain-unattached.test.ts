import { expect } from "chai";
import { SwankError, type types } from "swank-client";
import { explainError, explainUnattached } from "#swank-mcp/base/refusals.js";

/** The refusal that an agent gets when connecting fails. */
function refusal(code: types.SwankErrorCode, host: string, port?: number) {
  const details = port === undefined ? {} : { port };
  const error = new SwankError(code, "It failed.", { remedy: "Do this.", details });
  const { structured } = explainError(explainUnattached(error, { host, port: 4005 }));
  return structured;
}

function refused(type: string, message: string, next: string) {
  return { error: { code: -32000, message, data: { type, next } } };
}

const LISTEN = `Ask the user to evaluate this in the image (in Emacs, in the REPL), then call again:
  (swank:create-server :port 4005 :dont-close t)
With SLY, write slynk for swank. If the image has neither package, evaluate (ql:quickload :swank) first.`;
const TUNNEL =
  "By default Swank listens only on its own machine: forward its port, ssh -N -L 4005:127.0.0.1:4005 lisp.example, and start swank-mcp with --attach 4005.";

describe("explainUnattached", () => {
  it("gives the form to evaluate if nothing listens on this machine", () => {
    for (const host of ["127.0.0.1", "localhost", "::1"]) {
      const told = refused("LISP_UNREACHABLE", "No Lisp can be reached. It failed.", LISTEN);
      expect(refusal("CONNECTION_REFUSED", host)).to.deep.equal(told);
    }
  });

  it("also suggests a tunnel if nothing listens on another machine", () => {
    const told = refused("LISP_UNREACHABLE", "No Lisp can be reached. It failed.", `${LISTEN} ${TUNNEL}`);
    expect(refusal("CONNECTION_REFUSED", "lisp.example")).to.deep.equal(told);
  });

  it("names a machine that does not answer, and a wrong host name", () => {
    const silent = `Ask the user whether that machine is up. ${TUNNEL}`;
    const unknown = "Ask the user for the right name or address, and to start swank-mcp with it.";
    for (const [code, next] of [
      ["HOST_UNREACHABLE", silent],
      ["CONNECT_TIMEOUT", silent],
      ["HOST_NOT_FOUND", unknown],
    ] as const) {
      const told = refused("LISP_UNREACHABLE", "No Lisp can be reached. It failed.", next);
      expect(refusal(code, "lisp.example")).to.deep.equal(told);
    }
  });

  it("names this server's options if the secret is wrong", () => {
    const next = "Do this. swank-mcp reads it from --secret-file FILE; with --no-secret it sends none.";
    for (const code of ["SECRET_REJECTED", "SECRET_UNREADABLE"] as const) {
      expect(refusal(code, "127.0.0.1")).to.deep.equal(refused(code, "It failed.", next));
    }
  });

  it("names an option if a secret may be missing", () => {
    const error = new SwankError("NOT_SWANK", "It failed.", { remedy: "Do this.", details: { secretMissing: true } });
    const { structured } = explainError(explainUnattached(error, { host: "127.0.0.1", port: 4005 }));
    expect(structured).to.deep.equal(
      refused("NOT_SWANK", "It failed.", "Do this. swank-mcp reads it from --secret-file FILE."),
    );
  });

  it("names the port where a usable server will listen", () => {
    const next = "Do this. swank-mcp must then be started with --attach";
    for (const [host, address] of [
      ["127.0.0.1", "4006"],
      ["::1", "[::1]:4006"],
      ["lisp.example", "lisp.example:4006"],
    ] as const) {
      expect(refusal("SLYNK", host, 4006)).to.deep.equal(refused("SLYNK", "It failed.", `${next} ${address}.`));
    }
  });

  it("keeps the library's text for any other error", () => {
    expect(refusal("SWANK_TOO_OLD", "127.0.0.1")).to.deep.equal(refused("SWANK_TOO_OLD", "It failed.", "Do this."));
    const defect = new TypeError("a defect");
    expect(explainUnattached(defect, { host: "127.0.0.1", port: 4005 })).to.equal(defect);
  });
});
