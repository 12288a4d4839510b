import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

/** The expected texts of one test file, in a text file beside it. Each stands below the line `=== NAME ===`. */
export class Snapshots {
  readonly #file: string;
  readonly #updates: boolean;
  readonly #expected: Map<string, string>;
  /** The texts of this run. */
  readonly #actual = new Map<string, string>();

  /**
   * @param testFile - `import.meta.url` of the compiled test.
   * @param updates - Whether to write the file instead of comparing. Default: whether UPDATE_SNAPSHOTS is 1.
   */
  constructor(testFile: string, updates = process.env["UPDATE_SNAPSHOTS"] === "1") {
    this.#updates = updates;
    this.#file = fileURLToPath(testFile)
      .replace(/([/\\]test)[/\\]dist(?=[/\\])/, "$1")
      .replace(/\.test\.js$/, ".snapshots.txt");
    this.#expected = existsSync(this.#file) ? readSections(readFileSync(this.#file, "utf8")) : new Map();
  }

  /** Compares a text with the snapshot of this name. `normalized` replaces what varies. */
  match(name: string, actual: string): void {
    if (this.#updates && !this.#actual.has(name)) {
      this.#expected.set(name, actual);
      writeFileSync(this.#file, sectionsText(this.#expected));
    }
    this.#actual.set(name, actual);
    const expected = this.#expected.get(name);
    if (expected === undefined) throw new Error(`${basename(this.#file)} has no snapshot "${name}". ${REMEDY}`);
    expect(actual, `snapshot "${name}". ${REMEDY}`).to.equal(expected);
  }

  /** Fails if the file has a snapshot that this run has not used. */
  finish(): void {
    if (this.#updates) writeFileSync(this.#file, sectionsText(this.#actual));
    else expect([...this.#actual.keys()], REMEDY).to.have.members([...this.#expected.keys()]);
  }

  /** Defines a last test that calls `finish`. Call this at the end of the test file. */
  testCompleteness(): void {
    // Mocha runs tests outside of a `describe` first.
    describe(basename(this.#file), () => {
      it("has no obsolete snapshots", () => this.finish());
    });
  }
}

const REMEDY = "Review the change, then run `UPDATE_SNAPSHOTS=1 npm test -- FILE`.";

function sectionsText(sections: ReadonlyMap<string, string>): string {
  return Array.from(sections, ([name, text]) => `=== ${name} ===\n${text}\n`).join("\n");
}

function readSections(text: string): Map<string, string> {
  const [, ...parts] = `\n${text}`.split(/\n=== (.+) ===\n/);
  const names = parts.filter((_, index) => index % 2 === 0);
  return new Map(names.map((name, index) => [name, (parts[index * 2 + 1] ?? "").slice(0, -1)]));
}
