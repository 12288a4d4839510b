/** The instructions that the client gives its model; at most 2,048 characters. */
export const INSTRUCTIONS = `A live Common Lisp image (SBCL). All code runs in one process: definitions, variables, loaded systems and the current package stay from call to call, as in a REPL. No build step, no restart: callers use a redefined function at once. Exceptions keep the old one until evaluated again: closures already made, captured #'functions, code compiled with it as a macro or inline.

Work in small steps with evaluate-lisp: define, call, look, correct. It takes any number of forms, and reports output, warnings and the values of the last form ("=> v" a line each). Change package with (in-package :name), or pass "package" for one call. Load a project with (asdf:load-system "name") or (load "/path/file.lisp"); give such calls a longer "timeout" (seconds).

When code fails you get [ERROR] TYPE, the message and a backtrace: frame 0 is where it happened, higher numbers are callers. Gaps in the numbers are Lisp's own frames. describe-last-error repeats it with its restarts; get-backtrace shows the whole stack, until an evaluation succeeds.

An error does not unwind: the thread stays stopped with its frames, named "thread/level" in the answer, while other evaluations run on their own threads. debugger_frames and debugger_eval_in_frame show why; redefine what is wrong, then debugger_invoke_restart with the program's own restart or RESTART-FRAME (RETRY repeats the form and its side effects): the answer is the original call's value. Old stops are aborted automatically.

[TIMEOUT]: time was up. If the code is stopped, debugger_continue resumes it. breakpoint_set and debugger_step follow code that is wrong without an error.
Undefined function or variable, in an error or a warning? Check spelling and package: (apropos "NAME"). Symbols are upcased when read: foo is FOO. A READER-ERROR or END-OF-FILE means unbalanced or malformed code; the message says where.
describe-symbol shows the arglist, documentation, value and source of a name. list-definitions lists what you have defined; reset-session starts over; lisp-status shows the image.`;
