import { readdir, readlink } from "node:fs/promises";
import { expect } from "chai";
import { connect } from "swank-client";
import { startRealSwank } from "../../support/real-swank.js";
import { launching, sharedCache, type TestImage } from "./launching.js";
import { runScript } from "./processes.js";

/** Runs a program that outlives the image, as C code does it; its process id comes on the image's stdout. */
const SYSTEM =
  '(sb-alien:alien-funcall (sb-alien:extern-alien "system" (cl:function sb-alien:int sb-alien:c-string)) "sleep 200 & echo child $!")';
/** The same for a process that has everything the image has. */
const FORK = `(cl:let ((pid (sb-alien:alien-funcall (sb-alien:extern-alien "fork" (cl:function sb-alien:int)))))
  (cl:when (cl:zerop pid) (cl:loop (sb-unix:nanosleep 200 0)))
  (cl:format sb-sys:*stdout* "child ~d~%" pid)
  (cl:finish-output sb-sys:*stdout*)
  pid)`;
/** The same in an attached image, whose stdout is not the test's; gives the process id. */
const POPEN = `(let ((pipe (sb-alien:alien-funcall
              (sb-alien:extern-alien "popen" (function sb-sys:system-area-pointer sb-alien:c-string sb-alien:c-string))
              "sleep 200 > /dev/null 2>&1 & echo $!" "r")))
  (read (sb-sys:make-fd-stream
         (sb-alien:alien-funcall (sb-alien:extern-alien "fileno" (function sb-alien:int sb-sys:system-area-pointer)) pipe))))`;

async function descriptorsOf(pid: number): Promise<readonly number[]> {
  return (await readdir(`/proc/${pid}/fd`)).map(Number).sort((a, b) => a - b);
}

describe("launchImage: a program that the image has started", () => {
  const { launch } = launching();
  const children: number[] = [];

  afterEach(() => {
    for (const pid of children.splice(0)) process.kill(pid, "SIGKILL");
  });

  /** Launches an image that runs the form, and waits until that has told the child's process id. */
  async function launchWithChild(form: string): Promise<TestImage & { readonly child: number }> {
    let told: (pid: number) => void = () => undefined;
    const pid = new Promise<number>((resolve) => {
      told = resolve;
    });
    const onLog = (line: string) => {
      const text = /^child (\d+)$/.exec(line)?.[1];
      if (text !== undefined) told(Number(text));
    };
    const image = await launch({ onLog });
    await image.evaluate(form);
    const child = await pid;
    children.push(child);
    return { ...image, child };
  }

  for (const [how, form] of [
    ["with system(3)", SYSTEM],
    ["with fork(2)", FORK],
  ] as const) {
    it(`${how} does not delay the report of the image's end`, async () => {
      const { image, connection, send, child } = await launchWithChild(form);
      send("(sb-ext:exit :code 5 :abort t)");
      const [exit, reason] = await Promise.all([image.exited, connection.closed]);
      expect(exit.code).to.equal(5);
      expect(reason.code).to.equal("CONNECTION_LOST");
      process.kill(child, 0);
    });

    it(`${how} does not delay the report of a killed image`, async () => {
      const { image, connection } = await launchWithChild(form);
      process.kill(image.pid, "SIGKILL");
      expect((await Promise.all([image.exited, connection.closed]))[0].signal).to.equal("SIGKILL");
    });
  }

  if (process.platform === "linux")
    it("does not inherit the image's socket", async () => {
      const { image, child } = await launchWithChild(SYSTEM);
      const socket = await readlink(`/proc/${image.pid}/fd/3`);
      // The shell may close a descriptor between the two readings.
      const links = (await descriptorsOf(child)).map((number) =>
        readlink(`/proc/${child}/fd/${number}`).catch(() => "closed"),
      );
      expect(await Promise.all(links)).not.to.include(socket);
    });
});

describe("SwankClient: a program that an attached image has started", () => {
  it("does not delay the report of the image's end", async () => {
    const { port, stop } = await startRealSwank();
    const client = await connect({ port });
    const outcome = await client.evaluate(POPEN).next();
    const child = outcome.status === "returned" ? Number(outcome.values[0]) : Number.NaN;
    try {
      await stop();
      expect((await client.closed).code).to.equal("CONNECTION_LOST");
      process.kill(child, 0);
    } finally {
      process.kill(child, "SIGKILL");
    }
  });
});

if (process.platform === "linux")
  describe("a launched image", () => {
    for (const useCore of [true, false])
      it(`started ${useCore ? "from a core" : "by loading"} has no descriptors except the standard ones and its socket`, async () => {
        const settings = { launch: { useCore }, inherited: 40 };
        const other = runScript("launch-and-hold", [await sharedCache()], settings);
        const { pid } = { ...JSON.parse(await other.firstLine) };
        const ofParent = await descriptorsOf(other.child.pid ?? 0);
        const ofImage = await descriptorsOf(pid);
        other.child.kill("SIGKILL");
        await other.exited;
        expect(ofParent).to.include(40);
        expect(ofImage).to.deep.equal([0, 1, 2, 3]);
      });
  });
