import type { RealSwank } from "./real-swank.js";

/** Milliseconds that an image has to show its threads. */
const TIME = 10_000;

/** Prints what each thread does, by the image's main thread, which serves no client. */
const SHOW_THREADS = `(dolist (thread (sb-thread:list-all-threads))
  (format sb-sys:*stdout* "~&~a~%" thread)
  (unless (eq thread sb-thread:*current-thread*)
    (let ((shown (sb-thread:make-semaphore)))
      (ignore-errors
       (sb-thread:interrupt-thread
        thread
        (lambda ()
          (ignore-errors (sb-debug:print-backtrace :stream sb-sys:*stdout* :count 30))
          (sb-thread:signal-semaphore shown))))
      (unless (sb-thread:wait-on-semaphore shown :timeout 1)
        (format sb-sys:*stdout* "~&takes no interrupt~%")))))`;

/** The threads of an image, with their stacks as far as they can be had. Needs no client of it. */
export async function backtraces({ process: { stdout }, type }: RealSwank): Promise<string> {
  let output = "";
  const listen = (chunk: unknown) => {
    output += String(chunk);
  };
  stdout?.on("data", listen);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, TIME);
    stdout?.on("data", () => {
      if (!output.includes("END OF THREADS")) return;
      clearTimeout(timer);
      resolve();
    });
    type(`(progn ${SHOW_THREADS} (format sb-sys:*stdout* "~&END OF THREADS~%") (finish-output sb-sys:*stdout*))`);
  });
  stdout?.off("data", listen);
  return output === "" ? "Its main thread shows nothing." : output;
}
