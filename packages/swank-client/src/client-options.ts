import type { OptionNames } from "./base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "./base/question-options.js";
import type { DefinitionKind } from "./calls/definition.js";

/** Limits on a client's use of its image. */
export interface ClientOptions {
  /**
   * `false`: the client loads nothing into the image except the code that guards the connection. It refuses `evaluate` and everything else that
   * needs the runtime with `RUNTIME_FORBIDDEN`: also `foreignStops` if a thread is stopped. Its own stops have what Swank reports: the type and the
   * message of the condition, restarts, and the calls of the first frames. Default: true. The runtime is then loaded when the client
   * connects, if it was compiled before, and otherwise when it is first needed: for an evaluation, or to describe a stop.
   */
  readonly runtime?: boolean | undefined;
  /** `false`: code that this client evaluates, and the threads that it starts, cannot end the image. Default: true. */
  readonly mayEndImage?: boolean | undefined;
  /**
   * The name of the agent that uses this client. The image then records what the client evaluates and changes, from its first evaluation on, and
   * shows it in an Emacs of the user that has swank-mcp.el. Default: nothing is recorded.
   */
  readonly agentName?: string | undefined;
}

export const CLIENT_OPTIONS: OptionNames<ClientOptions> = { runtime: true, mayEndImage: true, agentName: true };

/** Which definitions to list. */
export interface DefinitionsOptions extends QuestionOptions {
  /** Default: all kinds, and loaded files and systems. */
  readonly kind?: DefinitionKind | undefined;
}

export const DEFINITIONS_OPTIONS: OptionNames<DefinitionsOptions> = { ...QUESTION_OPTIONS, kind: true };

/** Options for describing a symbol. */
export interface DescribeOptions extends QuestionOptions {
  /** Name of the package to look in, in upper or lower case. Default: `CL-USER`. A package prefix in the symbol's name overrides it. */
  readonly package?: string | undefined;
  /**
   * Arguments of a call, for which the methods of a generic function are listed. Nothing is evaluated: each is a literal, quoted data, a
   * variable, `(swank-objects:ref N)`, or the name of a class for any direct instance. Read in `package`, by default the session's.
   */
  readonly args?: readonly string[] | undefined;
}

export const DESCRIBE_OPTIONS: OptionNames<DescribeOptions> = { ...QUESTION_OPTIONS, package: true, args: true };
