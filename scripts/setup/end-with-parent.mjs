import { readFileSync } from "node:fs";

/**
 * Ends this process as by SIGTERM once whoever started it is gone: npm passes SIGTERM and SIGINT on, but nobody passes
 * SIGKILL on, and a client that killed npm may keep our stdin open.
 *
 * @param {number} every how often to look, in milliseconds
 */
export function endWithParent(every = 1000) {
  const starters = whoStartedUs();
  const timer = setInterval(() => {
    if (whoStartedUs() === starters) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, every);
  timer.unref();
}

/** Changes when our parent goes, or, under npm on Linux, when npm goes, which a shell that outlives it hides from us. */
function whoStartedUs() {
  const behindShell = process.env["npm_lifecycle_event"] !== undefined && process.platform === "linux";
  return behindShell ? `${process.ppid} ${parentOf(process.ppid)}` : `${process.ppid}`;
}

/**
 * @param {number} pid
 * @returns {string | undefined} `undefined` when the process is gone
 */
function parentOf(pid) {
  try {
    // proc(5): the command's name, in parentheses, may hold anything; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
  } catch {
    return undefined;
  }
}
