import { readdir } from "node:fs/promises";
import { expect } from "chai";
import { HttpClient, RawConnection } from "../support/http-client.js";
import { liveHttp } from "../support/live-server.js";

/** The test and the server have as many descriptors each. */
const CONNECTIONS = 10_000;

/** The server's own, those of strangers, and those that are about to be closed. */
const MOST_DESCRIPTORS = 1100;

describe("an HTTP server with 10,000 connections that send nothing", () => {
  const http = liveHttp();

  it("serves its clients meanwhile, and keeps few of the connections", async function () {
    this.timeout(600_000);
    const client = await HttpClient.initialized(http.client());
    const silent: RawConnection[] = [];
    const descriptors: number[] = [];
    while (silent.length < CONNECTIONS) {
      for (let count = 0; count < 500; count += 1) silent.push(new RawConnection(http.port));
      expect(await client.evaluate("(+ 1 2)")).to.match(/^=> 3/);
      descriptors.push((await readdir(`/proc/${http.pid}/fd`)).length);
    }
    const later = await HttpClient.initialized(http.client());
    expect(await later.evaluate("(+ 3 4)")).to.match(/^=> 7/);
    expect(Math.max(...descriptors)).to.be.below(MOST_DESCRIPTORS);
    // The system may have dropped some before the server saw them, which it does not tell the client.
    for (const { socket } of silent) socket.destroy();
  });
});
