import { cp, lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { print, read } from "sexp-parser";
import { type LaunchedImage, type LaunchImageOptions, launchImage } from "swank-client/launch";
import { Connection } from "swank-client/protocol";
import { COMPILED, PLAIN, plainCore, plainSwank } from "../../support/plain-core.js";

/** An image that a test has launched, and the connection to it. */
export interface TestImage {
  readonly image: LaunchedImage;
  readonly connection: Connection;
  /** Has the image evaluate a form; symbols in it name their packages. Gives the value as it is printed on the wire. */
  evaluate(form: string): Promise<string>;
  /** The same for forms that do not come back. */
  send(form: string): void;
}

/** What the tests of one suite have launched and written, gone after each of them. */
export interface Launching extends Folders {
  /** Launches from the core that the tests of the suite share, unless told otherwise. */
  launch(options?: LaunchImageOptions): Promise<TestImage>;
  /**
   * Launches until a core is being built, and then cancels, because building one takes seconds.
   *
   * @returns the key of the core
   */
  beginsToBuild(options: LaunchImageOptions & { readonly cacheDir: string }): Promise<string>;
  /**
   * Launches from a cache folder whose only core has been spoilt. Another process seems to build the core, and does so as soon as the launch
   * has removed the spoilt one.
   */
  launchSpoilt(cacheDir: string, spoil: (core: string) => Promise<unknown>): Promise<TestImage>;
  /** A cache folder of its own that has that core, and the compiled Swank. */
  cacheWithCore(): Promise<string>;
  /** A cache folder of its own that has the compiled Swank, but no core. */
  cacheWithSwank(): Promise<string>;
}

/** Folders for the tests of one suite. */
export interface Folders {
  /** An empty folder. */
  folder(): Promise<string>;
}

/** Milliseconds that a test may take on a slow machine if it builds cores. */
export const BUILDING_TIME = 300_000;

// Building a core takes seconds: tests that do not look at how it is built share one, and those that do share the compiled Swank.
const shared: { cacheDir?: Promise<string> | undefined; swank?: Promise<string> } = {};

/** The cache folder with the core that the tests of a suite share. */
export function sharedCache(): Promise<string> {
  shared.cacheDir ??= buildShared();
  return shared.cacheDir;
}

/** Tests look at all files of their cache, so that it holds this core and this Swank only, and is not shared with other processes that run tests. */
async function buildShared(): Promise<string> {
  const [cacheDir, core] = await Promise.all([temporaryFolder(), plainCore()]);
  await cp(core, join(cacheDir, basename(core)), { preserveTimestamps: true });
  await addCompiledSwank(cacheDir);
  await (await launchImage({ ...PLAIN, cacheDir })).stop();
  return cacheDir;
}

async function addCompiledSwank(cacheDir: string): Promise<void> {
  shared.swank ??= plainSwank();
  const compiled = await shared.swank;
  await mkdir(join(cacheDir, COMPILED), { mode: 0o700 });
  await cp(compiled, join(cacheDir, COMPILED, basename(compiled)), { recursive: true, preserveTimestamps: true });
}

/** For a suite whose tests write files. */
export function folders(): Folders {
  const made: string[] = [];
  afterEach(() => Promise.all(made.splice(0).map(remove)));
  return {
    async folder() {
      const folder = await temporaryFolder();
      made.push(folder);
      return folder;
    },
  };
}

/** For a suite whose tests launch images. */
export function launching(): Launching {
  const images: LaunchedImage[] = [];
  before(async function () {
    this.timeout(BUILDING_TIME);
    await sharedCache();
  });
  after(async () => {
    await remove(await sharedCache());
    shared.cacheDir = undefined;
  });
  // Before the folders are removed that the images work in.
  afterEach(() => Promise.all(images.splice(0).map((image) => image.stop())));
  const { folder } = folders();
  const launch = async (options: LaunchImageOptions = {}) => {
    const image = await launchImage({ ...PLAIN, cacheDir: await sharedCache(), ...options });
    images.push(image);
    return connectTo(image);
  };
  return {
    folder,
    launch,
    async beginsToBuild(options) {
      const cancelling = new AbortController();
      const ended = launch({ ...options, signal: cancelling.signal }).then(
        ({ image }) => new Error(`The image was started: ${image.how}`),
        (error: unknown) => error,
      );
      for (;;) {
        const draft = (await readdir(options.cacheDir)).find((name) => name.includes(`.${process.pid}.`));
        const error = await Promise.race([ended, pause(20)]);
        if (error !== undefined) throw error;
        if (draft === undefined) continue;
        cancelling.abort();
        await ended;
        return draft.split(".")[0] ?? "";
      }
    },
    async launchSpoilt(cacheDir, spoil) {
      const core = await coreIn(cacheDir);
      const [lock, intact] = [core.replace(/core$/, "lock"), join(cacheDir, "intact")];
      await cp(core, intact);
      await spoil(core);
      await writeFile(lock, `${process.pid} ${hostname()}`);
      const launched = launch({ cacheDir });
      while (await lstat(core).catch(() => undefined)) await pause(10);
      await rename(intact, core);
      await rm(lock);
      return launched;
    },
    async cacheWithCore() {
      const cacheDir = await folder();
      await cp(await sharedCache(), cacheDir, { recursive: true });
      return cacheDir;
    },
    async cacheWithSwank() {
      const cacheDir = await folder();
      await addCompiledSwank(cacheDir);
      return cacheDir;
    },
  };
}

/** The path of the only core in a cache folder. */
export async function coreIn(cacheDir: string): Promise<string> {
  const [name = "", ...others] = (await readdir(cacheDir)).filter((file) => file.endsWith(".core"));
  if (others.length > 0) throw new Error(`There are several cores: ${[name, ...others].join(", ")}`);
  return join(cacheDir, name);
}

async function connectTo(image: LaunchedImage): Promise<TestImage> {
  const connection = new Connection(await image.transport());
  const request = (form: string) => connection.request(read(form), { label: form, package: "COMMON-LISP-USER" });
  return {
    image,
    connection,
    async evaluate(form) {
      const reply = await request(form);
      if (reply.status === "abort") throw new Error(`${form} was aborted: ${reply.condition}`);
      return print(reply.value);
    },
    send: (form) => void request(form).catch(() => undefined),
  };
}

function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "swank-launch-test-"));
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
