import { expect } from "chai";
import { McpDebugger } from "./mcp-debugger.js";
import { Snapshots } from "./snapshots.js";

/** A program in a launched image, and the snapshots of its tests. */
export interface DebuggedProgram {
  /** The server while a test runs. */
  readonly lisp: McpDebugger;
  readonly snapshots: Snapshots;
}

/**
 * Gives the suite that calls it a server whose image has evaluated a program, which ends with `:ready`. After every test, breakpoints are removed and
 * stops aborted.
 *
 * @param url - The `import.meta.url` of the test file, beside which the snapshots are.
 */
export function debuggedProgram(url: string, code: string): DebuggedProgram {
  const snapshots = new Snapshots(url);
  let started: McpDebugger | undefined;
  const server = () => started ?? expect.fail("The server is there while a test runs.");
  before(async () => {
    started = await McpDebugger.start();
    expect((await started.evaluate(code)).at(-1)).to.include("=> :READY");
  });
  after(async () => {
    await started?.close();
    snapshots.finish();
  });
  afterEach(async () => {
    await server().removeBreakpoints();
    await server().abortAll();
  });
  return {
    snapshots,
    get lisp() {
      return server();
    },
  };
}
