/** Environment of a server in which the first tool call fails with a `TypeError`, "find is broken", that no tool expects. */
export function brokenCall(): { NODE_OPTIONS: string } {
  const code = `
    const { find } = Array.prototype;
    Array.prototype.find = function (...args) {
      if (this[0]?.prepare === undefined) return find.apply(this, args);
      Array.prototype.find = find;
      throw new TypeError('find is broken', { cause: new Error('the cause') });
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}
