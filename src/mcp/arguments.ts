import { Problem } from '../core/problem.ts';
import { correctionOf } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { Read } from '../reads/read.ts';

/** The arguments of a tool call, as JSON has them. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** Arguments as a read takes them. */
export interface GivenArguments {
  /** With misspelt ones, of which the read warns. */
  readonly given: Readonly<Record<string, string>>;
  /** The names of those that the read neither has nor warns of. */
  readonly unknown: readonly string[];
}

/** Maximum number of unknown arguments that are compared with the known ones. */
const maxCompared = 50;

/**
 * Gives the arguments of a call as the text that the parameters of the query are, so that both mean
 * the same. Numbers and booleans may have their JSON types; null is as good as nothing.
 *
 * @throws Problem that names the argument, for a list, an object, or a number that JSON has rounded.
 */
export function readArguments(read: Read, args: ToolArguments): GivenArguments {
  const { shape } = read.params;
  const names = Object.keys(shape);
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  const known = entries.filter(([name]) => Object.hasOwn(shape, name));
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(shape, name));
  const misspelt = others
    .slice(0, maxCompared)
    .filter((name) => correctionOf(name, names) !== undefined);
  return {
    given: Object.fromEntries([
      ...misspelt.map((name) => [name, '']),
      ...known.map(([name, value]) => [name, toText(name, value, shape[name])]),
    ]),
    unknown: others.filter((name) => !misspelt.includes(name)),
  };
}

function toText(name: string, value: unknown, schema: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  const { code, accepts } = faultOf(schema);
  if (typeof value !== 'number') {
    const kind = Array.isArray(value) ? 'a list' : 'an object';
    throw new Problem(code, {
      detail: `The parameter \`${name}\` is ${kind}; it takes ${accepts}.`,
    });
  }
  // The id of a post has more digits than a JSON number keeps: another post would be read.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Problem(code, {
      detail: `The parameter \`${name}\` is a number that is too large to be exact; send it as a string.`,
    });
  }
  return String(value);
}
