import {
  chmod,
  cp,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { print, read } from "sexp-parser";
import { connect } from "swank-client";
import { openConnection, tcpOpener } from "swank-client/protocol";
import { startRealSwank } from "../../support/real-swank.js";
import { testCache } from "../../support/test-cache.js";
import { LiveImage } from "./live-image.js";

/** What a folder of the cache holds: the texts of modules, what was compiled from them, and the secret by which an image recognizes the folder. */
const KEPT = /^(?:[a-z]+-\d+\.lisp|[a-z]+-[0-9A-Z]+\.fasl|id)$/;

const MODULES = [
  "evaluate",
  "debug",
  "image",
  "questions",
  "build",
  "changes",
  "testing",
  "covering",
  "observe",
  "emacs",
] as const;

/** Notes in the image how modules are loaded from now on: from texts, from files that are compiled there, or from files compiled before. */
const NOTE = `(cl:progn
  (cl:defvar cl-user::*loaded* '())
  (sb-int:encapsulate 'cl:load 'cl-user::note
    (cl:lambda (load source cl:&rest options)
      (cl:pushnew (cl:typecase source (cl:string-stream :texts) (cl:stream :compiled) (cl:t :compiling)) cl-user::*loaded*)
      (cl:apply load source options)))
  cl:nil)`;

/** An image that notes how it loads modules. */
interface NotingImage {
  /** How a client loads the module `connection`, the smallest, when it connects. */
  loads(cacheDir: string | false): Promise<string>;
  stop(): Promise<void>;
}

/** @param change - A form that the image evaluates first. */
async function noting(change: string): Promise<NotingImage> {
  const swank = await startRealSwank();
  const { connection } = await openConnection(tcpOpener({ port: swank.port }));
  const ask = async (form: string) => {
    const reply = await connection.request(read(form), { label: "noting", package: "COMMON-LISP-USER" });
    return reply.status === "ok" ? print(reply.value) : reply.condition;
  };
  await ask(NOTE);
  await ask(`(cl:progn ${change} cl:nil)`);
  return {
    async loads(cacheDir) {
      await (await connect({ port: swank.port, cacheDir, timeout: 60_000 })).close();
      return (await ask("cl-user::*loaded*")).toUpperCase();
    },
    async stop() {
      await connection.close();
      await swank.stop();
    },
  };
}

describe("Runtime in an image on this machine", function () {
  this.timeout(240_000);
  const images: NotingImage[] = [];
  let filled: string;
  let cacheDir: string;

  before(async () => {
    cacheDir = filled = await mkdtemp(join(tmpdir(), "cache-of-client-"));
    expect(await loadedByNewImage()).to.equal("(:COMPILING)");
  });
  beforeEach(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), "cache-of-client-"));
  });
  afterEach(async () => {
    await Promise.all(images.splice(0).map((image) => image.stop()));
    await rm(cacheDir, { recursive: true, force: true });
  });
  after(() => rm(filled, { recursive: true }));

  async function newImage(change = "cl:nil"): Promise<NotingImage> {
    const image = await noting(change);
    images.push(image);
    return image;
  }

  /** How a client loads the module into an image. */
  function loadedBy(image: NotingImage, cache: string | false = cacheDir): Promise<string> {
    return image.loads(cache);
  }

  async function loadedByNewImage(change?: string): Promise<string> {
    return loadedBy(await newImage(change));
  }

  /** Puts the compiled module into the cache. => its file */
  async function fillCache(): Promise<string> {
    await cp(filled, cacheDir, { recursive: true });
    return compiledFile();
  }

  /** The folder in the cache. */
  async function folder(): Promise<string> {
    const [name = ""] = await readdir(join(cacheDir, "runtime"));
    return join(cacheDir, "runtime", name);
  }

  /** The compiled module in it. */
  async function compiledFile(): Promise<string> {
    const names = await readdir(await folder());
    return join(await folder(), names.find((name) => name.endsWith(".fasl")) ?? "");
  }

  it("is compiled by the first image, and loaded by others from a file of this user only", async () => {
    expect(await loadedByNewImage()).to.equal("(:COMPILING)");
    const file = await compiledFile();
    expect((await lstat(file)).mode & 0o777).to.equal(0o600);
    const names = await readdir(await folder());
    expect(names.filter((name) => !KEPT.test(name))).to.deep.equal([]);
    expect(names.filter((name) => name.endsWith(".fasl"))).to.have.lengthOf(1);
    expect(await readdir(join(cacheDir, "runtime"))).to.have.lengthOf(1);
    const { mtimeMs } = await lstat(file);
    const image = await newImage();
    expect(await loadedBy(image)).to.equal("(:COMPILED)");
    expect((await lstat(file)).mtimeMs).to.equal(mtimeMs);
  });

  it("is compiled module by module, each into a file", async () => {
    // The cache of all tests, because compiling all modules takes seconds.
    const shared = testCache("swank-toolkit");
    const image = new LiveImage();
    try {
      await image.start();
      const client = await image.connect({ cacheDir: shared });
      for (const module of MODULES) await client.lisp.loadedOperator("none", module);
    } finally {
      await image.stop();
    }
    const runtimes = join(shared, "runtime");
    const used = await Promise.all(
      (await readdir(runtimes)).map(async (name) => ({ name, time: (await lstat(join(runtimes, name))).mtimeMs })),
    );
    const [latest] = used.sort((one, other) => other.time - one.time);
    const names = await readdir(join(runtimes, latest?.name ?? ""));
    const modules = (ending: string) =>
      new Set(names.filter((name) => name.endsWith(ending)).map((name) => name.split("-")[0]));
    expect([...modules(".lisp")]).to.include.members(["connection", ...MODULES]);
    expect(modules(".fasl")).to.deep.equal(modules(".lisp"));
  });

  it("is loaded from its texts if nothing may be kept, or can be", async () => {
    const image = await newImage();
    expect(await loadedBy(image, false)).to.equal("(:TEXTS)");
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = "/proc/none";
    try {
      expect(await loadedBy(await newImage(), "/proc/none")).to.equal("(:TEXTS)");
    } finally {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    }
  });

  it("is compiled by several images at once", async () => {
    const some = await Promise.all([newImage(), newImage()]);
    const ways = await Promise.all(some.flatMap((image) => [loadedBy(image), loadedBy(image)]));
    expect(new Set(ways)).to.deep.equal(new Set(["(:COMPILING)"]));
    expect(await readdir(join(cacheDir, "runtime"))).to.have.lengthOf(1);
    expect(await loadedByNewImage()).to.equal("(:COMPILED)");
  });

  /** How the file is spoilt, and whether the image tries to load it. */
  const SPOILT: Record<string, readonly [spoil: (file: string) => Promise<unknown>, isRead: boolean]> = {
    "is cut off": [async (file) => writeFile(file, (await readFile(file)).subarray(0, 100_000)), true],
    "holds what no Lisp can load": [(file) => writeFile(file, "# FASL\n  compiled from nothing\n"), true],
    "can be written by its group": [(file) => chmod(file, 0o660), false],
    "is a link": [
      async (file) => {
        await rename(file, `${file}.other`);
        await symlink(`${file}.other`, file);
      },
      false,
    ],
    "has a second name": [(file) => link(file, `${file}.other`), false],
  };

  for (const [what, [spoil, isRead]] of Object.entries(SPOILT))
    it(`is compiled again if the file in the cache ${what}`, async () => {
      const file = await fillCache();
      const { size } = await lstat(file);
      await spoil(file);
      expect(await loadedByNewImage()).to.equal(isRead ? "(:COMPILING :COMPILED)" : "(:COMPILING)");
      const found = await lstat(file);
      expect([found.isFile(), found.mode & 0o777, found.nlink]).to.deep.equal([true, 0o600, 1]);
      expect(found.size).to.be.closeTo(size, 1000);
    });

  const UNUSABLE: Record<string, (folder: string) => Promise<unknown>> = {
    "can be written by others": (path) => chmod(join(path, "connection-1.lisp"), 0o666),
    "is a link": async (path) => {
      await rename(join(path, "connection-1.lisp"), join(path, "other"));
      await symlink(join(path, "other"), join(path, "connection-1.lisp"));
    },
    "is missing": (path) => rm(join(path, "connection-1.lisp")),
    "cannot be compiled": (path) => writeFile(join(path, "connection-1.lisp"), "(cl:car"),
  };

  for (const [what, spoil] of Object.entries(UNUSABLE))
    it(`is loaded from its texts if one of them in the cache ${what}, and the folder is removed`, async () => {
      await rm(await fillCache());
      await spoil(await folder());
      expect(await loadedByNewImage()).to.match(/^\(:TEXTS\b/);
      expect(await readdir(join(cacheDir, "runtime"))).to.deep.equal([]);
    });

  it("is compiled again if an image has died meanwhile, whose unfinished file is removed later", async () => {
    const file = await fillCache();
    const draft = `${file}.${process.pid}.0123456789ab-0123abcd`;
    await rename(file, draft);
    const longAgo = new Date(Date.now() - 7_200_000);
    await utimes(draft, longAgo, longAgo);
    expect(await loadedByNewImage()).to.equal("(:COMPILING)");
    while ((await readdir(await folder())).some((name) => !KEPT.test(name))) await pause(10);
    expect(await loadedByNewImage()).to.equal("(:COMPILED)");
  });

  it("is compiled again in an image with another Swank of the same version", async () => {
    await fillCache();
    const other = `(cl:defmacro swank::with-connection ((connection) cl:&body body)
      (cl:list 'swank::call-with-connection connection (cl:list* 'cl:lambda '() cl:nil body)))`;
    expect(await loadedByNewImage(other)).to.equal("(:COMPILING)");
    expect(await loadedByNewImage(other)).to.equal("(:COMPILED)");
    expect(await loadedByNewImage()).to.equal("(:COMPILED)");
  });

  it("is loaded from its texts in an image that sees other files under these names", async () => {
    const file = await fillCache();
    const elsewhere = `${cacheDir}/elsewhere`;
    await mkdir(elsewhere);
    await cp(join(file, ".."), elsewhere, { recursive: true });
    await mkdir(join(elsewhere, basename(join(file, ".."))), { mode: 0o700 });
    await writeFile(join(elsewhere, "id"), "0123456789abcdef");
    const before = await readdir(elsewhere);
    const isOurs = `(cl:lambda (path) (cl:search ${print(join(cacheDir, "runtime"))} (cl:princ-to-string path)))`;
    const other = `(cl:format cl:nil "~a/~a" ${print(elsewhere)} (cl:file-namestring path))`;
    const redirect = (name: string) => `(sb-int:encapsulate '${name} 'cl-user::elsewhere
      (cl:lambda (function path cl:&rest options)
        (cl:apply function (cl:if (cl:funcall ${isOurs} path) ${other} path) options)))`;
    const image = await newImage(`${redirect("cl:open")} ${redirect("sb-unix:unix-lstat")}`);
    expect(await loadedBy(image)).to.equal("(:TEXTS)");
    expect(await readdir(elsewhere)).to.deep.equal(before);
    expect(await readdir(join(cacheDir, "runtime"))).to.have.lengthOf(1);
  });

  it("is removed from the cache when it has not been used for long", async () => {
    const folders = [...Array(9).keys()].map((number) => join(cacheDir, "runtime", `${number}`.repeat(24)));
    for (const [index, folder] of folders.entries()) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const used = new Date(Date.now() - (index < 2 ? 1000 : 3_600_000 * (index + 1)));
      await utimes(folder, used, used);
    }
    await chmod(join(cacheDir, "runtime"), 0o700);
    expect(await loadedByNewImage()).to.equal("(:COMPILING)");
    while ((await readdir(join(cacheDir, "runtime"))).length > 6) await pause(10);
    const left = await readdir(join(cacheDir, "runtime"));
    expect(left).to.include.members(["0".repeat(24), "1".repeat(24)]);
    expect(left).to.have.lengthOf(6);
  });
});
