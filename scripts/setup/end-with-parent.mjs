/**
 * Ends this process as by SIGTERM once its parent is gone: npm passes SIGTERM and SIGINT on, but nobody passes SIGKILL on,
 * and a client that killed npm may keep our stdin open.
 *
 * @param {number} every how often to look, in milliseconds
 */
export function endWithParent(every = 1000) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, every);
  timer.unref();
}
