/** What agents are told, by subject. The skills and docs/agents.md take these texts from here, so that no sentence has two sources. */
export const GUIDANCE = {
  image: `A live Common Lisp image (SBCL). All code runs in one process: definitions, variables, loaded systems and the current package stay from call to call, as in a REPL. No build step, no restart: callers use a redefined function at once. Closures already made, captured #'functions, and code compiled with it as a macro or inline keep the old one until evaluated again.`,
  steps: `Work in small steps with evaluate-lisp: define, call, look, correct. It takes any number of forms, and reports output, warnings and the last form's values ("=> v" a line each). Change package with (in-package :name), or pass "package" for one call. Load with load-system, not asdf:load-system: it reports notes and what is missing.`,
  code: `outline lists a system, file or package. show-source shows definitions. Find names with apropos-search, text with search-source.
list-changes, save-changes, load-changes sync files. find-references shows uses. class-info shows classes. compile-code checks code. run-tests runs tests.`,
  errors: `When code fails you get [ERROR] TYPE, the message and a backtrace: frame 0 is where it happened, higher numbers are callers. describe-last-error repeats it with its restarts; get-backtrace shows the whole stack, until an evaluation succeeds.`,
  stops: `An error does not unwind: the thread stays stopped, named "thread/level", while other evaluations run. debugger_frames and debugger_eval_in_frame show why; redefine what is wrong, then debugger_invoke_restart with the program's own restart or RESTART-FRAME (RETRY repeats the form and its side effects): the answer is the original call's value. Old stops are aborted.`,
  rest: `[TIMEOUT]: time was up. If the code is stopped, debugger_continue resumes it. breakpoint_set and debugger_step follow code that is silently wrong. list-threads shows deadlocks.
Undefined name? Check spelling and package. Symbols are read upcased. READER-ERROR and END-OF-FILE mean malformed code.
describe-symbol shows a name's arglist, documentation and value; list-definitions your definitions. reset-session starts over. lisp-status shows the image.`,
} as const;

/** The instructions that the client gives its model; at most 2,048 characters. */
export const INSTRUCTIONS = Object.values(GUIDANCE).join("\n\n");

/** The same for a server that only reads. */
export const READ_ONLY_INSTRUCTIONS = `A live Common Lisp image (SBCL) that may serve users. This server only reads (--read-only): no tool evaluates code or changes the program, its threads, definitions, breakpoints or files, and no permission changes that. Do not ask for it: tell the user which change you recommend, as code that the user can evaluate.

outline lists a system, a file or a package. show-source shows definitions with file and line. Find names with apropos-search, text with search-source. describe-symbol shows a name's arglist, documentation and value. class-info shows classes. find-references shows uses. list-changes shows where the image and its files differ.

lisp-status shows the image, what agents run in it, and the stopped threads, named "thread/level". debugger_frames shows a stop's frames with their variables, inspect-object an object by its object_id, debugger_restarts what the user can do about it. list-threads shows what each thread waits for, and deadlocks.`;
