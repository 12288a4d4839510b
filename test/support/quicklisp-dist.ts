import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

/** A project of a dist: the files of one system of the same name, and the names of the systems that it needs. */
export interface DistProject {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly needs?: readonly string[];
}

const VERSION = "2024-01-01";

/** A dist of Quicklisp with the given projects, which it serves by HTTP on this machine. */
export class QuicklispDist {
  /** The paths that were requested. */
  readonly requests: string[] = [];
  /** Paths whose requests wait for `release`. */
  readonly held = new Map<string, (() => void) | undefined>();
  /** Paths that are answered by "not found". */
  readonly missing = new Set<string>();
  readonly #folder: string;
  readonly #server: Server;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer(({ url = "" }, response) => {
      this.requests.push(url);
      if (this.held.has(url)) this.held.set(url, () => void this.#send(url, response));
      else void this.#send(url, response);
    });
  }

  static async start(projects: readonly DistProject[]): Promise<QuicklispDist> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "quicklisp-dist-")));
    const dist = new QuicklispDist(folder);
    await new Promise<void>((resolve) => dist.#server.listen(0, "127.0.0.1", resolve));
    await dist.#write(projects);
    return dist;
  }

  /** Where the description of the dist is. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The server of the dist does not listen.");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Waits until the path has been requested. */
  async requested(path: string): Promise<void> {
    while (!this.requests.includes(path)) await setTimeout(20);
  }

  /** Answers the request that waits for a path, and all later ones at once. */
  release(path: string): void {
    this.held.get(path)?.();
    this.held.delete(path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true });
  }

  async #send(path: string, response: ServerResponse): Promise<void> {
    const octets = this.missing.has(path)
      ? undefined
      : await readFile(join(this.#folder, basename(path))).catch(() => undefined);
    response.writeHead(octets === undefined ? 404 : 200, {
      "Content-Length": octets?.length ?? 0,
      Connection: "close",
    });
    response.end(octets);
  }

  async #write(projects: readonly DistProject[]): Promise<void> {
    const releases = ["# project url size file-md5 content-sha1 prefix [system-file1..system-fileN]"];
    const systems = ["# project system-file system-name [dependency1..dependencyN]"];
    for (const { name, files, needs = [] } of projects) {
      const prefix = `${name}-${VERSION}`;
      const archive = await this.#pack(prefix, files);
      const md5 = createHash("md5").update(archive).digest("hex");
      const sha1 = createHash("sha1").update(archive).digest("hex");
      releases.push(`${name} ${this.url}/${prefix}.tgz ${archive.length} ${md5} ${sha1} ${prefix} ${name}.asd`);
      systems.push(`${name} ${name} ${name} ${["asdf", ...needs].join(" ")}`);
    }
    await writeFile(join(this.#folder, "releases.txt"), `${releases.join("\n")}\n`);
    await writeFile(join(this.#folder, "systems.txt"), `${systems.join("\n")}\n`);
    await writeFile(
      join(this.#folder, "distinfo.txt"),
      `name: local
version: ${VERSION}
system-index-url: ${this.url}/systems.txt
release-index-url: ${this.url}/releases.txt
canonical-distinfo-url: ${this.url}/distinfo.txt
distinfo-subscription-url: ${this.url}/distinfo.txt
`,
    );
  }

  /** The archive with the files in the folder `prefix`, in the format that Quicklisp reads. */
  async #pack(prefix: string, files: Readonly<Record<string, string>>): Promise<Buffer> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.#folder, prefix, name)), { recursive: true });
      await writeFile(join(this.#folder, prefix, name), text);
    }
    const archive = join(this.#folder, `${prefix}.tgz`);
    await promisify(execFile)("tar", ["--format=ustar", "-C", this.#folder, "-czf", archive, prefix]);
    return readFile(archive);
  }
}
