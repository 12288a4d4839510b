import { type ImageAddress, readAddress } from "./image-address.js";
import {
  choiceOption,
  flagOption,
  listOption,
  numberOption,
  type Option,
  optionalNumberOption,
  textOption,
} from "./option.js";
import { readSharePort } from "./sharing.js";

const attach: Option<ImageAddress | undefined> = {
  flag: "--attach",
  placeholder: "[HOST:]PORT",
  valueOptional: true,
  summary: "Use the image whose Swank listens there instead of launching one; port 4005 if only --attach is given.",
  fallback: "an image of its own",
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
    "Let a person's Emacs join the image that is launched, on 127.0.0.1 and this port, or any free one if only --share is given. Who joins can do anything, so a secret is asked for: --secret-file, ~/.slime-secret, or one that is made. Standard error says how to join. The image ends with the server.",
  read: (texts, source) => {
    const text = texts.at(-1);
    return text === undefined ? undefined : readSharePort(text, source);
  },
};

/** The one table of options: the command line, the environment, `--help` and docs/options.md all come from it. */
export const OPTIONS = {
  attach,
  secretFile: textOption({
    flag: "--secret-file",
    placeholder: "FILE",
    summary: "File whose first line is the secret of the attached Swank, or of the image that --share opens to others.",
    fallback: "~/.slime-secret if it exists",
  }),
  noSecret: flagOption({
    flag: "--no-secret",
    summary:
      "Send the attached Swank no secret, also when there is a ~/.slime-secret. With --share: let every user of the machine in.",
  }),
  lisp: textOption({
    flag: "--lisp",
    placeholder: "COMMAND",
    summary: "The SBCL to launch.",
    fallback:
      "what SBCL names in the environment, or sbcl, on the PATH or where Homebrew, MacPorts and SBCL's installer put it",
  }),
  swank: textOption({
    flag: "--swank",
    placeholder: "FOLDER",
    summary: "Folder of swank-loader.lisp, for the image that is launched.",
    fallback: "looked for in Quicklisp, ASDF, Emacs packages and system folders",
  }),
  load: listOption({
    flag: "--load",
    placeholder: "FILE",
    summary: "Load this file into the image that is launched; may be repeated.",
  }),
  share,
  noUserInit: flagOption({ flag: "--no-user-init", summary: "Launch without the user's .sbclrc." }),
  cacheDir: textOption({
    flag: "--cache-dir",
    placeholder: "FOLDER",
    summary: "Where the core to launch from is kept.",
    fallback: "the user's cache folder",
  }),
  dynamicSpaceSize: optionalNumberOption({
    flag: "--dynamic-space-size",
    placeholder: "MEGABYTES",
    summary: "The heap of the image that is launched.",
    fallback: "what that SBCL has by itself",
    min: 1,
    max: 16_777_216,
    whole: true,
  }),
  noCore: flagOption({ flag: "--no-core", summary: "Launch by loading Swank each time, without a saved core." }),
  timeout: numberOption({
    flag: "--timeout",
    placeholder: "SECONDS",
    summary: "Time for an evaluation that does not say how long it may take.",
    fallback: 30,
    inConsole: "86400",
    min: 0.1,
    max: 86_400,
  }),
  onError: choiceOption({
    flag: "--on-error",
    choices: ["stop", "unwind"],
    summary:
      "What an error does to its thread: stop keeps it with its frames and restarts, unwind reports it and lets it go.",
  }),
  policy: choiceOption({
    flag: "--policy",
    choices: ["debug", "keep"],
    summary: "Compile evaluated code so that all frames and variables are there, or by the image's own policy.",
  }),
  approval: choiceOption({
    flag: "--approval",
    choices: ["ask", "strict", "off"],
    inConsole: "off",
    summary:
      "Have the user allow what changes a stopped program: ask where the client can, refuse without a yes (strict), or never ask.",
  }),
  foreignErrors: choiceOption({
    flag: "--foreign-errors",
    choices: ["auto", "mine", "theirs"],
    summary:
      "Who gets the errors of threads that no client evaluates anything in: auto, Emacs or whoever else is connected, and the agent when nobody is; mine, the agent until it leaves; theirs, never the agent: when nobody else is connected, such a thread enters the image's own debugger.",
  }),
  maxStops: numberOption({
    flag: "--max-stops",
    placeholder: "N",
    summary: "Stopped threads that are kept at once; the oldest is aborted when there are more.",
    fallback: 8,
    min: 1,
    max: 100,
    whole: true,
  }),
  stopMinutes: numberOption({
    flag: "--stop-minutes",
    placeholder: "N",
    summary: "How long a stopped thread is kept.",
    fallback: 10,
    inConsole: "1440",
    min: 0.01,
    max: 1440,
  }),
  maxOutput: numberOption({
    flag: "--max-output",
    placeholder: "CHARACTERS",
    summary: "How much of each output stream is taken: the beginning, and the last 4,000.",
    fallback: 12_000,
    inConsole: "1000000",
    min: 5000,
    max: 1_000_000,
    whole: true,
  }),
  maxValue: numberOption({
    flag: "--max-value",
    placeholder: "CHARACTERS",
    summary: "How much of one printed value is shown.",
    fallback: 20_000,
    min: 100,
    max: 1_000_000,
    whole: true,
  }),
  logFile: textOption({
    flag: "--log-file",
    placeholder: "FILE",
    summary: "Append a log to this file.",
    fallback: "no log",
  }),
  verbose: flagOption({ flag: "--verbose", summary: "Log to standard error." }),
  help: flagOption({ flag: "--help", summary: "Print this and exit." }),
  version: flagOption({ flag: "--version", summary: "Print the version and exit." }),
} as const;

/** Every option, in the order in which help lists them. */
export const ALL_OPTIONS: readonly Option<unknown>[] = Object.values(OPTIONS);
