import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect } from "swank-client";
import { openConnection, type TransportOpener, tcpOpener } from "swank-client/protocol";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

describe("Indentation rules of new macros", () => {
  const image = liveImage();

  it("are computed and sent for other clients, and not for this one", async () => {
    // Loading the runtime makes packages, too, and Swank may look at them before the client has switched that off.
    await (await image.connect()).prepare();
    let received = "";
    const transport: TransportOpener = async (...args) => {
      const factory = await tcpOpener({ port: image.swank.port })(...args);
      return ({ onData, onClose }) =>
        factory({
          onData(chunk) {
            received += Buffer.from(chunk).toString("latin1");
            onData(chunk);
          },
          onClose,
        });
    };
    const client = await connect({ transport });
    const { connection } = await openConnection(tcpOpener({ port: image.swank.port }));
    let ofOther = "";
    connection.on("event", (message) => {
      if (message.type === "indentation-update") ofOther += message.rules.map(({ name }) => name).join(" ");
    });
    try {
      await values(client, '(make-package "INDENTED") (defmacro indented::with-care (() &body body) `(progn ,@body))');
      while (!ofOther.includes("with-care")) {
        // A new package makes Swank look at the macros of all packages. It may have looked before the macro was defined.
        await values(client, '(make-package (gensym "INDENTED-"))');
        await connection.request(read("(swank:connection-info)"), { label: "connection-info" });
        await pause(10);
      }
      // not even those of the macros that were there before it connected
      expect(received).to.not.include("indentation-update");
    } finally {
      await connection.close();
      await client.close();
    }
  });
});
