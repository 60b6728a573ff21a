import LinkHeader from 'http-link-header';
import { parseItem } from 'structured-headers';
import { expect } from 'vitest';

/** The three signals of a deprecated route, as parsers that know nothing of Perch understand them. */
export interface Signals {
  readonly deprecation: Date;
  readonly sunset: Date;
  readonly links: readonly LinkHeader.Reference[];
  /** The target of `successor-version`; null where no link has this relation. */
  readonly successor: string | null;
}

type Fields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Reads the signals of a reply; null where it has none of the three. It fails on half of them. */
export function readSignals(headers: Fields): Signals | null {
  const links = readLinks(headers);
  const ownRelations = links.filter(({ rel }) => signalRelations.has(rel));
  if (headers.deprecation === undefined && headers.sunset === undefined) {
    expect(ownRelations).toEqual([]);
    return null;
  }
  return {
    deprecation: readDeprecation(headers.deprecation),
    sunset: readHttpDate(headers.sunset),
    links,
    successor: links.find(({ rel }) => rel === 'successor-version')?.uri ?? null,
  };
}

/** Reads the signals of a reply that must have them. */
export function expectSignals(headers: Fields): Signals {
  const signals = readSignals(headers);
  if (signals === null) throw new Error('The reply has none of the three signals.');
  return signals;
}

/** Gives the links of a reply (RFC 8288), of all its `Link` fields together. */
export function readLinks({ link }: Fields): readonly LinkHeader.Reference[] {
  return link === undefined ? [] : LinkHeader.parse([link].flat().join(', ')).refs;
}

const signalRelations: ReadonlySet<string> = new Set([
  'successor-version',
  'deprecation',
  'sunset',
]);

/** RFC 9745 §2: a structured-field Date, without parameters. */
function readDeprecation(value: unknown): Date {
  const [date, parameters] = parseItem(String(value));
  expect(date).toBeInstanceOf(Date);
  expect(parameters.size).toBe(0);
  return date as Date;
}

/** RFC 9110 §5.6.7: the preferred form, which a date gives back as it came. */
function readHttpDate(value: unknown): Date {
  const date = new Date(Date.parse(String(value)));
  expect(date.toUTCString()).toBe(value);
  return date;
}
