import { nearestName } from '../core/near-name.ts';
import type { Read, Understood } from './read.ts';

/** Bounds on the names that are compared: what is longer, stranger or further back is ignored silently. */
const limits = { names: 50, warnings: 5 } as const;
const comparedName = /^[\w-]{1,32}$/;

/** Returns the parameter of a read that an ignored name is likely a misspelling of, if there is one. */
export function correctionOf(name: string, known: readonly string[]): string | undefined {
  return comparedName.test(name) ? nearestName(name, known) : undefined;
}

/** Returns a warning for each parameter of a request that a read ignores and knows by another spelling. */
export function warnOfMisspelt(
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): readonly string[] {
  const ignored = Object.keys(given).filter((name) => !known.includes(name));
  return ignored
    .slice(0, limits.names)
    .flatMap((name) => {
      const correction = correctionOf(name, known);
      return correction === undefined ? [] : [tell(name, correction)];
    })
    .slice(0, limits.warnings);
}

function tell(name: string, correction: string): string {
  return `The parameter \`${name}\` does not exist and was ignored; did you mean \`${correction}\`?`;
}

/** Makes a read warn of misspelt parameters. oEmbed documents have no place for warnings. */
export function warning(read: Read): Read {
  const known = Object.keys(read.params.shape);
  return {
    ...read,
    understand: (given, context) => {
      const understood = read.understand(given, context);
      const warnings = warnOfMisspelt(known, given);
      return warnings.length === 0 ? understood : addWarnings(understood, warnings);
    },
  };
}

function addWarnings(understood: Understood, warnings: readonly string[]): Understood {
  const suffix = JSON.stringify(warnings);
  const views = Object.entries(understood.views).map(([format, view]) => [
    format,
    `${view} ${suffix}`,
  ]);
  return {
    ...understood,
    views: Object.fromEntries(views) as Understood['views'], // the same formats
    assemble: (answer) => {
      const result = understood.assemble(answer);
      if (result.kind === 'embed') return result;
      return { ...result, warnings: [...warnings, ...result.warnings] };
    },
  };
}
