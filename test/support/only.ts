/**
 * Returns an object with only these members, in place of a whole one. Any other member is a method that rejects, so a new method of the
 * type needs no stub.
 */
export function only<T extends object>(name: string, parts: Partial<NoInfer<T>>): T;
export function only(name: string, parts: object): object {
  return new Proxy(parts, {
    get(target, key) {
      // `await` and assertions look for members that no type declares.
      const isUndeclared = typeof key === "symbol" || key === "then" || key === "toJSON";
      if (isUndeclared || key in target) return Reflect.get(target, key);
      return () => Promise.reject(new Error(`${name}.${key} was not expected.`));
    },
  });
}
