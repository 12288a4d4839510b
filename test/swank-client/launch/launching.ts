import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print, read } from "sexp-parser";
import { Connection } from "swank-client";
import { type LaunchedImage, type LaunchOptions, launchImage } from "swank-client/launch";

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
export interface Launching {
  /** Launches from the cores of this run of the tests, unless told otherwise. */
  launch(options?: LaunchOptions): Promise<TestImage>;
  /** An empty folder. */
  folder(): Promise<string>;
}

// Building a core takes seconds: tests that do not look at how it is built share one.
const shared: { cacheDir?: Promise<string> } = {};

/** The cache folder that the tests of this run share. */
export function sharedCache(): Promise<string> {
  shared.cacheDir ??= temporaryFolder();
  return shared.cacheDir;
}

after(async () => {
  if (shared.cacheDir !== undefined) await remove(await shared.cacheDir);
});

/** Cleans up after each test of the suite that calls it. */
export function launching(): Launching {
  const images: LaunchedImage[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(images.splice(0).map((image) => image.stop()));
    await Promise.all(folders.splice(0).map(remove));
  });
  return {
    async launch(options = {}) {
      const image = await launchImage({ cacheDir: await sharedCache(), ...options });
      images.push(image);
      return connectTo(image);
    },
    async folder() {
      const folder = await temporaryFolder();
      folders.push(folder);
      return folder;
    },
  };
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
