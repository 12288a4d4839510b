import { readFileSync } from "node:fs";

/**
 * Ends this process as by SIGTERM when its parent has ended. npm forwards SIGTERM and SIGINT, but SIGKILL cannot be
 * forwarded, and a client that killed npm may keep our stdin open.
 *
 * @param {number} every milliseconds between checks
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

/** Changes when our parent ends. Under npm on Linux it also changes when npm ends, whose shell is our parent and outlives it. */
function whoStartedUs() {
  const behindShell = process.env["npm_lifecycle_event"] !== undefined && process.platform === "linux";
  return behindShell ? `${process.ppid} ${parentOf(process.ppid)}` : `${process.ppid}`;
}

/**
 * @param {number} pid
 * @returns {string | undefined} `undefined` if the process has ended
 */
function parentOf(pid) {
  try {
    // proc(5): the command's name, in parentheses, may contain any characters; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
  } catch {
    return undefined;
  }
}
