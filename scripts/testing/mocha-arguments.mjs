/** A test file as a developer names it: its source, or what it is compiled to. */
const TEST_FILE = /\.test\.(?:ts|js|mjs)$/;

/**
 * Separates the test files among the arguments of `npm test` from mocha's options.
 *
 * @param {readonly string[]} args
 * @returns {{ files: string[], options: string[] }} `files` are compiled ones
 */
export function separate(args) {
  return {
    files: args.filter((arg) => TEST_FILE.test(arg)).map(compiledFile),
    options: args.filter((arg) => !TEST_FILE.test(arg)),
  };
}

/**
 * Mocha's arguments for a run of all tests, or of the files named.
 *
 * @param {readonly string[]} args as after `npm test --`: test files (`test/.../x.test.ts` will do) and mocha's options
 * @param {string} configFile
 * @param {Record<string, unknown>} config content of that file
 * @returns {string[]}
 */
export function mochaArguments(args, configFile, config) {
  const { files, options } = separate(args);
  if (files.length === 0) return ["--config", configFile, ...args];
  // Mocha adds the files of its configuration to those it is given, so the rest of the configuration is given here.
  const { spec: _spec, ignore: _ignore, ...settings } = config;
  return ["--no-config", ...Object.entries(settings).flatMap(optionArguments), ...options, ...files];
}

/** @param {string} file */
function compiledFile(file) {
  return file.endsWith(".ts") ? file.replace(/^(?:\.\/)?test\//, "test/dist/").replace(/\.ts$/, ".js") : file;
}

/** @param {[string, unknown]} setting */
function optionArguments([name, value]) {
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return value === true ? [option] : [option, String(value)];
}
