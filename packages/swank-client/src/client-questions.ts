import { checkId, checkOptions, checkText } from "./base/check-arguments.js";
import { SwankError } from "./base/errors.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "./base/question-options.js";
import { TypedEmitter } from "./base/typed-emitter.js";
import { askUser, type UserAnswer, type UserQuestion, userReachable } from "./calls/ask-user.js";
import { countOtherClients } from "./calls/count-other-clients.js";
import { describeName } from "./calls/describe-name.js";
import { hasThread } from "./calls/has-thread.js";
import { endProgramThread } from "./calls/interrupt-thread.js";
import { type ThreadInfo, threadsOfImage } from "./calls/list-threads.js";
import { simpleCompletions } from "./calls/simple-completions.js";
import type { SymbolDescription } from "./calls/symbol-description.js";
import type { ClientEvents } from "./client-events.js";
import { DESCRIBE_OPTIONS, type DescribeOptions } from "./client-options.js";
import { type CompiledFile, type CompileFileOptions, compileFile } from "./code/compile-file.js";
import { type InspectOptions, Inspector } from "./inspect/inspector.js";
import type { LispRunner } from "./lisp/lisp-runner.js";
import { runsWhenRead } from "./protocol/connection/runs-when-read.js";

/** Names of threads that serve clients: of Swank, and of this library. A `repl-thread` runs the code of one client's REPL. */
const SERVING = /^(?:control-thread|reader-thread|auto-flush-thread|swank[- ])/i;

/** Milliseconds beyond the user's time after which a question to the user is given up. */
const ANSWER_MARGIN = 10_000;

/** Milliseconds to wait for completions. */
const COMPLETION_TIME = 5000;

function noSuchThread(id: number): SwankError {
  return new SwankError("NO_SUCH_THREAD", `There is no thread ${id}.`);
}

/** A client's requests to its image, except evaluations. */
export abstract class ClientQuestions extends TypedEmitter<ClientEvents> {
  /** Calls functions in the image. */
  abstract readonly lisp: LispRunner;

  /**
   * The image's threads, without the one that lists them.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `call`.
   */
  async threads(options: QuestionOptions = {}): Promise<readonly ThreadInfo[]> {
    checkOptions("threads", options, QUESTION_OPTIONS);
    return this.lisp.with({ signal: options.signal }).run(threadsOfImage);
  }

  /**
   * Whether the image currently has a thread with this Swank id.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `call`.
   */
  async hasThread(id: number, options: QuestionOptions = {}): Promise<boolean> {
    checkOptions("hasThread", options, QUESTION_OPTIONS);
    checkId("id", id);
    return this.lisp.with({ signal: options.signal }).run(hasThread, id);
  }

  /**
   * Ends a thread of the image, stopped or running, like `program.endThread(id, "kill")`, which also returns what became of it.
   *
   * @param id - Swank's id, as in `threads`.
   * @throws SwankError the errors of `program.endThread`.
   */
  async killThread(id: number): Promise<void> {
    checkId("id", id);
    await this.lisp.run(endProgramThread, id, "kill");
  }

  /** @throws SwankError `NO_SUCH_THREAD`; `INVALID_ARGUMENT` for a thread that serves clients. */
  protected async checkThread(id: number): Promise<void> {
    checkId("id", id);
    const thread = (await this.threads()).find((each) => each.id === id);
    if (thread === undefined) throw noSuchThread(id);
    if (!SERVING.test(thread.name)) return;
    const message = `Thread ${id}, "${thread.name}", serves clients. It is neither interrupted nor ended.`;
    throw new SwankError("INVALID_ARGUMENT", message);
  }

  /**
   * The number of other clients connected to the image, including Emacs.
   *
   * @throws SwankError the errors of `call`; `REQUEST_TIMEOUT` if the image does not answer within 3 s.
   */
  otherClients(): Promise<number> {
    return this.lisp.run(countOtherClients);
  }

  /**
   * Whether an Emacs is connected to the image in which `askUser` would ask.
   *
   * @throws SwankError as for `askUser`.
   */
  canAskUser(): Promise<boolean> {
    return this.lisp.run(userReachable);
  }

  /**
   * Asks the user of each Emacs that is connected to the image and has swank-mcp.el. Aborting the signal withdraws the question.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT` if the image does not answer, `CANCELLED`, or the reason of a
   * closed connection.
   */
  askUser(question: UserQuestion, { signal }: QuestionOptions = {}): Promise<UserAnswer> {
    const timeout = question.seconds * 1000 + ANSWER_MARGIN;
    return this.lisp.with({ signal, timeout }).run(askUser, question);
  }

  /**
   * Describes a symbol: its functions, variables and classes, with their arglists, values, documentation and sources.
   *
   * @param name - As in code, in upper or lower case: `mapcar`, `pkg:name`, `:keyword`, `|Mixed Case|`, `(setf name)`.
   * @returns a description, even if there is no such symbol or package. Nothing is interned, except for symbols in `args`.
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async describeSymbol(name: string, options: DescribeOptions = {}): Promise<SymbolDescription> {
    checkOptions("describeSymbol", options, DESCRIBE_OPTIONS);
    const { package: packageName, args = [], signal } = options;
    checkText("name", name);
    if (packageName !== undefined) checkText("package", packageName);
    return this.lisp.with({ signal }).run(describeName, name, packageName, args);
  }

  /**
   * Evaluates an expression, and inspects its value: its parts page by page, and their parts. Neither other inspectors nor Emacs's are affected.
   *
   * @param expression - For a variable of a stopped frame, `(swank-objects:ref N)` with its `objectId`.
   * @throws SwankError `REQUEST_FAILED` if the code fails, `NO_SUCH_PACKAGE`, `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`,
   * `CANCELLED`, or the reason of a closed connection.
   */
  inspect(expression: string, options: InspectOptions = {}): Promise<Inspector> {
    return Inspector.open(this.lisp, expression, options);
  }

  /**
   * Compiles a file of the image's machine, and loads it with the option `load`. `Sources` finds the lines of the notes.
   *
   * @throws SwankError `REQUEST_FAILED` if there is no such file, `INVALID_ARGUMENT`, `CANCELLED`, or the reason of a closed connection.
   */
  compileFile(file: string, options: CompileFileOptions = {}): Promise<CompiledFile> {
    return compileFile(this.lisp, file, options);
  }

  /**
   * Symbols that begin with `prefix`, as code in the package writes them, sorted. Loads nothing into the image.
   *
   * @param prefix - May carry a package: `mapc`, `cl:mapc`, `:ke`.
   * @throws SwankError the errors of `call`.
   */
  async completions(prefix: string, packageName: string): Promise<readonly string[]> {
    if (runsWhenRead(prefix) || runsWhenRead(packageName)) return [];
    const found = await this.lisp.with({ timeout: COMPLETION_TIME }).run(simpleCompletions, prefix, packageName);
    return [...new Set(found)].sort();
  }
}
