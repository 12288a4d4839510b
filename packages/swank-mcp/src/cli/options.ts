import { FAMILIES } from "./families.js";
import { type ImageAddress, readAddress } from "./image-address.js";
import {
  choiceOption,
  flagOption,
  listOption,
  numberOption,
  type Option,
  optionalNumberOption,
  subsetOption,
  textOption,
} from "./option.js";
import { readSharePort } from "./share-port.js";

const attach: Option<ImageAddress | undefined> = {
  flag: "--attach",
  placeholder: "[HOST:]PORT",
  valueOptional: true,
  summary: "Attach to the image whose Swank listens there instead of launching one. --attach alone means port 4005.",
  fallback: "launch an image",
  read: (texts, source) => {
    const text = texts.at(-1);
    return text === undefined ? undefined : readAddress(text, source);
  },
};

const share: Option<number | undefined> = {
  flag: "--share",
  placeholder: "PORT",
  valueOptional: true,
  summary:
    "Let your Emacs connect to the launched image on this port of 127.0.0.1; --share alone means any free port. Clients that connect can do anything, so they need a secret: that of --secret-file, of ~/.slime-secret, or a generated one. Standard error says how to connect. The image is launched when the client asks for the list of tools (in the console, at once), and ends with the server.",
  read: (texts, source) => {
    const text = texts.at(-1);
    return text === undefined ? undefined : readSharePort(text, source);
  },
};

/** The table of options, from which the command line, the environment, `--help` and docs/options.md are derived. */
export const OPTIONS = {
  attach,
  secretFile: textOption({
    flag: "--secret-file",
    placeholder: "FILE",
    summary:
      "Read the secret from the first line of this file: that of the attached Swank, or with --share that of the launched image.",
    fallback: "~/.slime-secret, if it exists",
  }),
  noSecret: flagOption({
    flag: "--no-secret",
    summary:
      "Send no secret to the attached Swank, even if ~/.slime-secret exists. With --share: every user of the machine can connect.",
  }),
  lisp: textOption({
    flag: "--lisp",
    placeholder: "COMMAND",
    summary: "The sbcl program to launch.",
    fallback:
      "the environment variable SBCL, else sbcl on the PATH or where Homebrew, MacPorts or SBCL's installer puts it",
  }),
  swank: textOption({
    flag: "--swank",
    placeholder: "FOLDER",
    summary: "The folder that contains swank-loader.lisp, for the launched image.",
    fallback: "searched for in Quicklisp, ASDF, Emacs packages and system folders",
  }),
  load: listOption({
    flag: "--load",
    placeholder: "FILE",
    summary: "Load this file into the launched image. May be repeated.",
  }),
  share,
  noUserInit: flagOption({
    flag: "--no-user-init",
    summary: "Do not load the user's .sbclrc into the launched image.",
  }),
  cacheDir: textOption({
    flag: "--cache-dir",
    placeholder: "FOLDER",
    summary:
      "The folder for the saved core from which images are launched, and for the compiled code that attached images on this machine load.",
    fallback: "the user's cache folder",
  }),
  dynamicSpaceSize: optionalNumberOption({
    flag: "--dynamic-space-size",
    placeholder: "MEGABYTES",
    summary: "The heap size of the launched image.",
    fallback: "SBCL's own",
    min: 1,
    max: 16_777_216,
    whole: true,
  }),
  noCore: flagOption({ flag: "--no-core", summary: "Load Swank at each launch instead of using a saved core." }),
  timeout: numberOption({
    flag: "--timeout",
    placeholder: "SECONDS",
    summary: "Default when a call gives no timeout. The evaluation then pauses in the debugger.",
    fallback: 30,
    inConsole: "86400",
    min: 0.1,
    max: 86_400,
  }),
  onError: choiceOption({
    flag: "--on-error",
    choices: ["stop", "unwind"],
    summary:
      "What an error does to its thread. stop: the thread stops, with its frames and restarts. unwind: the error is reported and the evaluation aborted.",
  }),
  policy: choiceOption({
    flag: "--policy",
    choices: ["debug", "keep"],
    summary: "How evaluated code is compiled. debug: with all frames and variables. keep: by the image's own policy.",
  }),
  approval: choiceOption({
    flag: "--approval",
    choices: ["ask", "strict", "off"],
    inConsole: "off",
    summary:
      "Whether changes to a stopped program need the user's approval. ask: if the client can ask; if it cannot, only actions on other clients' threads are refused. strict: always. off: never.",
  }),
  readOnly: flagOption({
    flag: "--read-only",
    summary:
      "Only read: no tool evaluates code, changes a definition, a breakpoint or a stop, or writes a file. Other tools are neither listed nor run. An attached image also keeps errors of its background threads, as with --foreign-errors theirs.",
  }),
  foreignErrors: choiceOption({
    flag: "--foreign-errors",
    choices: ["auto", "mine", "theirs"],
    summary:
      "Who receives errors from background threads. auto: Emacs or another connected client, otherwise the agent. mine: the agent. theirs: never the agent; without another client, the thread enters the image's own debugger.",
  }),
  maxStops: numberOption({
    flag: "--max-stops",
    placeholder: "N",
    summary: "Maximum number of stopped threads. When another one stops, the oldest is aborted.",
    fallback: 8,
    min: 1,
    max: 100,
    whole: true,
  }),
  stopMinutes: numberOption({
    flag: "--stop-minutes",
    placeholder: "N",
    summary: "Minutes after which a stopped thread is aborted.",
    fallback: 10,
    inConsole: "1440",
    min: 0.01,
    max: 1440,
  }),
  maxOutput: numberOption({
    flag: "--max-output",
    placeholder: "CHARACTERS",
    summary:
      "Maximum length of each output stream in an answer. The middle of longer output is omitted, but kept: a marker says how to read it.",
    fallback: 12_000,
    inConsole: "1000000",
    min: 5000,
    max: 1_000_000,
    whole: true,
  }),
  maxValue: numberOption({
    flag: "--max-value",
    placeholder: "CHARACTERS",
    summary: "Maximum length of one printed value in an answer.",
    fallback: 20_000,
    min: 100,
    max: 1_000_000,
    whole: true,
  }),
  tools: subsetOption({
    flag: "--tools",
    choices: FAMILIES,
    summary:
      "The tool families to offer, separated by commas. core: evaluate and describe. debug: inspect and resume stopped threads. breakpoints: stop at calls. code: read and search the program's source. runtime: observe the running program. Tools of other families are neither listed nor mentioned.",
  }),
  logFile: textOption({
    flag: "--log-file",
    placeholder: "FILE",
    summary:
      "Append a log to this file: connections, launches, the image's own output, and each call with its tool, outcome and duration. Evaluated code, answers and secrets are not logged. The file must belong to the user; its permissions are set so that nobody else can read it.",
    fallback: "no log",
  }),
  ledger: textOption({
    flag: "--ledger",
    placeholder: "FILE",
    summary:
      "Append a line of JSON to this file for each call, with its code, for each question to the user, and for each answer, with output, values or report. Several servers can share the file. It contains all that the agent sends and sees, so only you can read it. docs/ledger.md has the fields.",
    fallback: "no ledger",
  }),
  verbose: flagOption({ flag: "--verbose", summary: "Write the log to standard error." }),
  emacsPath: flagOption({
    flag: "--emacs-path",
    summary: "Print the folder of swank-mcp.el, for the load-path of Emacs, and exit.",
  }),
  help: flagOption({ flag: "--help", summary: "Print this help and exit." }),
  version: flagOption({ flag: "--version", summary: "Print the version and exit." }),
} as const;

/** All options, in the order of `--help`. */
export const ALL_OPTIONS: readonly Option<unknown>[] = Object.values(OPTIONS);
