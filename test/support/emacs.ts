import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { EmacsProcess } from "./emacs-process.js";
import { McpTerminal } from "./mcp-terminal.js";
import { withHelpers } from "./sly.js";
import { forUsualServer, slySources, USUAL_SERVER } from "./usual-server.js";

const [HELPERS = "", SLY_HELPERS = ""] = ["emacs.el", "sly.el"].map((name) =>
  fileURLToPath(new URL(`../../support/${name}`, import.meta.url)),
);

/** Maximum wait for any state of Emacs, also on a busy machine: 100 s. */
const PATIENCE = 100_000;

/** Milliseconds for which Emacs is left to a person's keys. A form that it evaluates between two keys of a chord can break the chord off. */
const KEY_TIME = 100;

const debuggers = z.array(
  z.object({
    thread: z.number(),
    level: z.number(),
    connection: z.string(),
    condition: z.string(),
    type: z.string(),
    restarts: z.array(z.object({ name: z.string(), description: z.string() })),
    text: z.string(),
  }),
);

const shown = z.object({ buffer: z.string(), text: z.string(), line: z.string() });

/** A buffer: all of its text, and the line of the cursor. */
export type EmacsBuffer = z.output<typeof shown>;

/** What one debugger's buffer shows: `text` is all of it. */
export type EmacsDebugger = z.output<typeof debuggers>[number];

/** What SLY says of an integer. */
const OF_INTEGER = / \(\d+ bits?, #x[^)]*\)/g;

/** The size of a terminal, in characters. */
export interface FrameSize {
  readonly rows?: number;
  readonly columns?: number;
}

/** A real Emacs with SLIME, or with SLY if `TEST_SERVER` says so, used like a user does. Forms name SLIME. */
export class Emacs {
  readonly #process: EmacsProcess;
  readonly #lispPids: number[] = [];
  readonly #terminals: McpTerminal[] = [];
  #typedAt = 0;

  private constructor(process: EmacsProcess) {
    this.#process = process;
  }

  /** @param contribs - What `slime-setup` is given: the REPL by default. */
  static async start(contribs: readonly string[] = ["slime-repl"]): Promise<Emacs> {
    if (USUAL_SERVER === "slynk") return Emacs.#withSly();
    const setup = `(slime-setup '(${contribs.join(" ")}))`;
    return new Emacs(await EmacsProcess.start(["-l", HELPERS, "--eval", setup]));
  }

  static async #withSly(): Promise<Emacs> {
    const setup = ["-L", slySources(), "--eval", "(progn (require 'sly) (sly-setup) (require 'sly-mrepl))"];
    return withHelpers(
      HELPERS,
      async (helpers) => new Emacs(await EmacsProcess.start([...setup, "-l", helpers, "-l", SLY_HELPERS])),
    );
  }

  /** Returns the printed value of an Emacs Lisp form. */
  async eval(form: string): Promise<string> {
    const rest = this.#typedAt + KEY_TIME - performance.now();
    if (rest > 0) await setTimeout(rest);
    return this.#process.eval(forUsualServer(form));
  }

  /** Opens a frame in a terminal of its own, with the keyboard of a person. */
  async openFrame({ rows = 40, columns = 120 }: FrameSize = {}): Promise<void> {
    const clients = "(cl-count-if (lambda (frame) (frame-parameter frame 'client)) (frame-list))";
    const before = await this.eval(clients);
    const command = this.#process.frameCommand(rows, columns);
    this.#terminals.push(new McpTerminal({ command, state: "/nonexistent" }));
    await this.until(`(> ${clients} ${before})`, "a frame");
    // C-l: Emacs can lose the first key in a frame, and with it a chord.
    this.type("\x0c");
  }

  /** Presses keys in the frame that `openFrame` opened last. */
  type(...keys: readonly string[]): void {
    const terminal = this.#terminals.at(-1);
    if (terminal === undefined) throw new Error("Open a frame first.");
    terminal.press(...keys);
    this.#typedAt = performance.now();
  }

  /** `M-x slime-connect`, until its REPL shows a prompt. */
  async connect(port: number): Promise<void> {
    await this.eval(`(slime-connect "127.0.0.1" ${port})`);
    await this.prompt();
  }

  /** `M-x slime`, until its REPL shows a prompt. => the process id of the Lisp, which ends with this Emacs. */
  async startLisp(): Promise<number> {
    const connections = await this.eval("(length slime-net-processes)");
    const pid = Number(await this.eval("(swank-test-start-lisp)"));
    this.#lispPids.push(pid);
    await this.until(`(> (length slime-net-processes) ${connections})`, "a connection to a new Lisp");
    await this.prompt();
    return pid;
  }

  /** Waits for a message, a line that contains this. */
  async messageMatching(text: string): Promise<string> {
    const search = `(with-current-buffer "*Messages*"
                      (save-excursion (goto-char (point-min)) (search-forward ${JSON.stringify(text)} nil t)))`;
    await this.until(search, `a message with ${text}`);
    const shownLine = await this.#read(`(with-current-buffer "*Messages*" (save-excursion
      (goto-char (point-min)) (search-forward ${JSON.stringify(text)}) (thing-at-point 'line t)))`);
    return z.string().parse(shownLine).trimEnd();
  }

  /** All that its REPL shows. */
  async replText(): Promise<string> {
    return z.string().parse(await this.#read("(swank-test-repl-text)"));
  }

  /** Enters a form at the REPL's prompt, without waiting for its result. */
  async typeInRepl(form: string): Promise<void> {
    await this.eval(`(swank-test-type-in-repl ${JSON.stringify(form)})`);
  }

  /** Presses keys in its REPL, such as `C-c C-c`. */
  async pressInRepl(keys: string): Promise<void> {
    await this.eval(
      `(with-current-buffer (slime-connection-output-buffer) (call-interactively (key-binding (kbd ${JSON.stringify(keys)}))))`,
    );
  }

  /** Enters a form at the REPL's prompt, and returns the text between it and the next prompt, without what SLY says of an integer. */
  async evaluateInRepl(form: string): Promise<string> {
    await this.prompt();
    await this.typeInRepl(form);
    await this.prompt();
    // Output of other threads can appear above the prompt at any time.
    const text = await this.replText();
    const entered = `> ${forUsualServer(form)}`;
    const shown = text.slice(text.lastIndexOf(entered) + entered.length);
    return shown.slice(0, shown.lastIndexOf("\n")).trim().replaceAll(OF_INTEGER, "");
  }

  /** Writes a definition into a buffer of Lisp and presses `C-c C-c` on it, until it is compiled and loaded. */
  async compile(definition: string): Promise<void> {
    await this.eval(`(swank-test-compile ${JSON.stringify(definition)})`);
    await this.until("slime-last-compilation-result", "the end of a compilation");
  }

  /** Waits until its REPL shows an empty prompt, and no request is pending. */
  async prompt(): Promise<void> {
    await this.until("(swank-test-repl-waits)", "a prompt in the REPL");
  }

  /** Every debugger that is open. */
  async debuggerBuffers(): Promise<EmacsDebugger[]> {
    return debuggers.parse(await this.#read("(swank-test-debuggers)"));
  }

  /** Waits for a debugger that shows this. */
  async debuggerShowing(text: string): Promise<EmacsDebugger> {
    return this.#come(`a debugger that shows ${text}`, async () => {
      const open = await this.debuggerBuffers();
      return open.find((each) => each.text.includes(text));
    });
  }

  /** Waits until the debugger of a thread is closed, or at a level below `level`. */
  async debuggerClosed(thread: number, level = 1): Promise<void> {
    await this.#come(`the end of the debugger of thread ${thread}`, async () => {
      const open = await this.debuggerBuffers();
      return open.every((each) => each.thread !== thread || each.level < level);
    });
  }

  /** Presses a key in the debugger's buffer of a thread, such as `q`, or `0` for its first restart. */
  async pressInDebugger(thread: number, key: string): Promise<void> {
    await this.eval(`(swank-test-press-in-debugger ${thread} ${JSON.stringify(key)})`);
  }

  /** Presses a key, such as `v`, on the line of the debugger's buffer that has this text. */
  async pressOnFrame(thread: number, frame: string, key: string): Promise<void> {
    await this.eval(`(swank-test-press-in-debugger ${thread} ${JSON.stringify(key)} ${JSON.stringify(frame)})`);
  }

  /** `M-x slime-list-threads`, then presses a key, such as `d`, on the first thread whose line contains this. */
  async pressOnThread(name: string, key: string): Promise<void> {
    await this.eval("(progn (slime-list-threads) t)");
    await this.until(
      `(swank-test-press-on-thread ${JSON.stringify(name)} ${JSON.stringify(key)})`,
      `the thread ${name} in the list`,
    );
  }

  /** Presses `M-.` in the REPL and enters a name. => what is shown then */
  async definition(name: string): Promise<EmacsBuffer> {
    return shown.parse(await this.#read(`(swank-test-definition ${JSON.stringify(name)})`));
  }

  /** Waits for a buffer that shows a text. */
  async bufferShowing(name: string, text: string): Promise<EmacsBuffer> {
    await this.until(`(get-buffer ${JSON.stringify(name)})`, `a buffer ${name}`);
    return this.#come(`a buffer ${name} that shows ${text}`, async () => {
      const buffer = shown.parse(await this.#read(`(swank-test-shown ${JSON.stringify(name)})`));
      return buffer.text.includes(text) ? buffer : undefined;
    });
  }

  /** Waits until point is on the given line of the buffer `name`. */
  async pointOn(name: string, line: string): Promise<void> {
    await this.until(`(get-buffer ${JSON.stringify(name)})`, `a buffer ${name}`);
    await this.#come(`point in the buffer ${name} on the line ${line}`, async () => {
      const buffer = shown.parse(await this.#read(`(swank-test-shown ${JSON.stringify(name)})`));
      return buffer.line === line ? true : undefined;
    });
  }

  /** Invokes a restart by its number in the debugger's buffer, from 0 to 9, without waiting for its effect. */
  async invokeRestart(thread: number, number: number): Promise<void> {
    await this.pressInDebugger(thread, String(number));
  }

  /** Waits until a form is true in Emacs. */
  async until(form: string, what: string): Promise<void> {
    await this.#come(what, async () => (await this.eval(form)) !== "nil");
  }

  /** `M-x slime-disconnect`, until Emacs has no connection. */
  async disconnect(): Promise<void> {
    await this.eval("(slime-disconnect)");
    await this.until("(not (slime-connected-p))", "the end of the connection");
  }

  /** Quits with `C-x C-c`, and waits until it has ended. The Lisp that it started ends, too. */
  async quit(): Promise<void> {
    // The answer to the form is lost when Emacs goes before it is sent.
    await this.eval("(run-at-time 0 nil 'kill-emacs)").catch(() => undefined);
    await this.#process.gone();
    this.#killLisp();
  }

  /** Makes it as new for another test. => false if it cannot be used again: it has ended, or has started a Lisp */
  async reset(): Promise<boolean> {
    for (const terminal of this.#terminals.splice(0)) terminal.kill();
    if (this.#lispPids.length > 0) return false;
    return this.eval("(swank-test-reset)").then(
      (value) => value === "t",
      () => false,
    );
  }

  /** Kills it and the Lisp that it started. */
  async kill(): Promise<void> {
    await this.#process.kill();
    for (const terminal of this.#terminals) terminal.kill();
    this.#killLisp();
  }

  async #read(form: string): Promise<unknown> {
    const file = this.#process.newFile();
    await this.eval(`(swank-test-answer ${form} ${JSON.stringify(file)})`);
    return JSON.parse(await readFile(file, "utf8"));
  }

  async #come<Thing>(what: string, look: () => Promise<Thing | false | undefined>): Promise<Thing> {
    const end = Date.now() + PATIENCE;
    while (Date.now() < end) {
      const thing = await look();
      if (thing !== undefined && thing !== false) return thing;
      await setTimeout(30);
    }
    const messages = await this.eval('(with-current-buffer "*Messages*" (buffer-string))');
    throw new Error(`Emacs did not reach ${what}. Its messages: ${messages}`);
  }

  #killLisp(): void {
    for (const pid of this.#lispPids.splice(0)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    }
  }
}
