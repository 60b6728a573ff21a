import { nearestName } from '../core/near-name.ts';

/** Bounds on the names that are compared: longer, stranger or later ones are ignored silently. */
const limits = { names: 50, warnings: 5 } as const;
const comparedName = /^[\w-]{1,32}$/;

/** Returns the parameter of a read that an ignored name is likely a misspelling of, if there is one. */
export const correctionOf = (name: string, known: readonly string[]): string | undefined =>
  comparedName.test(name) ? nearestName(name, known) : undefined;

/** Returns a warning for each parameter of a request that a read ignores and knows by another spelling. */
export function warnOfMisspelt(
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): readonly string[] {
  const ignored = Object.keys(given).filter((name) => !known.includes(name));
  const warnings = ignored.slice(0, limits.names).flatMap((name) => {
    const correction = correctionOf(name, known);
    if (correction === undefined) return [];
    return `The parameter \`${name}\` does not exist and was ignored; did you mean \`${correction}\`?`;
  });
  return warnings.slice(0, limits.warnings);
}
