/** Script that runs in a thread or process of its own. */
export interface EntryPoint {
  readonly url: URL;
  readonly execArgv: readonly string[];
}

/** Returns the script `name` beside the module `from`, also in the build (scripts/bundle.ts). */
export function entryPoint(name: string, from: string): EntryPoint {
  const isSource = from.endsWith('.ts');
  return {
    url: new URL(`./${name}.${isSource ? 'ts' : 'js'}`, from),
    execArgv: isSource ? ['--import', toLoader()] : [],
  };
}

function toLoader(): string {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const register = `import { register } from ${loader}; register();`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}
