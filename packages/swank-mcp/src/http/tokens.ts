import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import type { TokenAction } from "../base/commands.js";
import type { Config } from "../base/config.js";
import { OTHERS, reasonOf } from "../base/log.js";
import { OptionError } from "../base/option.js";

/** Who sends a request. */
export interface Identity {
  /** Distinguishes it from all others, also from an earlier one of the same name. */
  readonly key: string;
  /** The name that other clients, the log and the ledger show. */
  readonly name: string;
}

/** Name of the token that the first start makes. */
const FIRST = "agent";

/** Begins every token, so that programs that look for secrets in files recognize one. */
const PREFIX = "swank_mcp_";

/** Does not follow links, and does not block if the file is a pipe. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const schema = z.looseObject({
  tokens: z.array(z.looseObject({ name: z.string(), hash: z.string().regex(/^[0-9a-f]{64}$/), created: z.string() })),
});

/** A token as the file has it: nobody can find the token from its hash. */
type Entry = z.output<typeof schema>["tokens"][number];

/** The file of the tokens, by default in the user's configuration folder. */
export function tokenFileOf(
  { tokenFile }: Pick<Config, "tokenFile">,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (tokenFile !== undefined) return resolve(tokenFile);
  return join(environment["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "swank-toolkit/tokens.json");
}

/** The tokens of the clients. Another process may change the file at any time. */
export class Tokens {
  readonly path: string;
  /** The file's state when it was last read. */
  #stamp: string | undefined;
  #entries: readonly Entry[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The tokens' names and dates.
   *
   * @throws OptionError - if the file cannot be used, for example because others can read it.
   */
  get all(): readonly Pick<Entry, "name" | "created">[] {
    this.#refresh();
    return this.#entries;
  }

  /** Reads the file. @throws OptionError - if it cannot be used */
  check(): void {
    this.#refresh();
  }

  /** Keys of the tokens' identities. @throws OptionError */
  get keys(): ReadonlySet<string> {
    this.#refresh();
    return new Set(this.#entries.map(({ hash }) => hash));
  }

  /** The identity of a token's holder; `undefined` for a wrong token. @throws OptionError */
  find(token: string): Identity | undefined {
    this.#refresh();
    const hash = hashOf(token);
    const found = this.#entries.find((entry) => timingSafeEqual(Buffer.from(entry.hash), Buffer.from(hash)));
    return found && { key: found.hash, name: found.name };
  }

  /** Makes a token, which is kept nowhere. @throws OptionError - if there is one of this name, or the file cannot be written. */
  add(name: string): string {
    this.#refresh();
    if (this.#entries.some((entry) => entry.name === name))
      throw new OptionError(`There is a token ${name} already. Remove it first: swank-mcp token remove ${name}`);
    const token = `${PREFIX}${randomBytes(32).toString("base64url")}`;
    this.#write([...this.#entries, { name, hash: hashOf(token), created: new Date().toISOString() }]);
    return token;
  }

  /** Makes the first token, if there is none. */
  addFirst(): string | undefined {
    return this.all.length === 0 ? this.add(FIRST) : undefined;
  }

  /** @throws OptionError - if there is no such token, or the file cannot be written. */
  remove(name: string): void {
    this.#refresh();
    const kept = this.#entries.filter((entry) => entry.name !== name);
    if (kept.length === this.#entries.length)
      throw new OptionError(`There is no token ${name} in ${this.path}; swank-mcp token list shows all.`);
    this.#write(kept);
  }

  /** Reads the file again if it has changed. */
  #refresh(): void {
    const stamp = stampOf(this.path);
    if (stamp !== undefined && stamp === this.#stamp) return;
    // Whatever goes wrong, earlier tokens are not valid any more.
    this.#entries = [];
    this.#stamp = undefined;
    this.#entries = read(this.path);
    this.#stamp = stamp;
  }

  #write(entries: readonly Entry[]): void {
    const draft = `${this.path}.${process.pid}.${randomBytes(4).toString("hex")}`;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      writeFileSync(draft, `${JSON.stringify({ tokens: entries }, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
      renameSync(draft, this.path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw new OptionError(`The tokens cannot be written: ${reasonOf(error)}. Name another file with --token-file.`);
    }
    this.#stamp = undefined;
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Changes when the file does; `undefined` if there is none, or if it cannot be looked at: reading it says why. */
function stampOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.ino} ${found.mtimeNs} ${found.ctimeNs} ${found.size}`;
  } catch {
    return undefined;
  }
}

/** @returns nothing if there is no file. */
function read(path: string): readonly Entry[] {
  const text = readPrivate(path);
  if (text === undefined) return [];
  try {
    return schema.parse(JSON.parse(text)).tokens;
  } catch {
    throw new OptionError(`${path} is not a file of tokens. Move it away, or name another file with --token-file.`);
  }
}

function readPrivate(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, READING);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new OptionError(`The tokens cannot be read: ${reasonOf(error)}.`);
  }
  try {
    const found = fstatSync(file);
    const user = process.getuid?.();
    if (!found.isFile()) throw new OptionError(`${path} is not a file. Name a file with --token-file.`);
    if (user !== undefined && found.uid !== user)
      throw new OptionError(`${path} belongs to another user. Name a file of your own with --token-file.`);
    if (user !== undefined && (found.mode & OTHERS) !== 0)
      throw new OptionError(`Other users can read or write ${path}. Make it your own: chmod 600 ${path}`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Does what `swank-mcp token` says. @returns the text to print. @throws OptionError */
export function changeTokens(tokens: Tokens, action: TokenAction): string {
  switch (action.kind) {
    case "add":
      return `${tokens.add(action.name)}\n`;
    case "remove":
      tokens.remove(action.name);
      return `Removed the token ${action.name}. A running server refuses it from now on.\n`;
    case "list":
      return tokens.all.length === 0
        ? `There are no tokens in ${tokens.path}.\n`
        : tokens.all.map(({ name, created }) => `${name}  ${created}\n`).join("");
  }
}
