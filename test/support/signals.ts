import LinkHeader from 'http-link-header';
import { parseItem } from 'structured-headers';
import { expect } from 'vitest';

/** Signals of a deprecated route, parsed without Perch's own code. */
export interface Signals {
  readonly deprecation: Date;
  readonly sunset: Date;
  readonly links: readonly LinkHeader.Reference[];
  /** Target of the `successor-version` link; `null` if there is none. */
  readonly successor: string | null;
}

type Fields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Parses the signals of a response; `null` if it has none. @throws if only some of them are present */
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

/** Parses the signals of a response. @throws Error if it has none */
export function expectSignals(headers: Fields): Signals {
  const signals = readSignals(headers);
  if (signals === null) throw new Error('The reply has none of the three signals.');
  return signals;
}

/** Returns the links in all `Link` headers of a response (RFC 8288). */
export function readLinks({ link }: Fields): readonly LinkHeader.Reference[] {
  return link === undefined ? [] : LinkHeader.parse([link].flat().join(', ')).refs;
}

const signalRelations: ReadonlySet<string> = new Set([
  'successor-version',
  'deprecation',
  'sunset',
]);

/** Parses a structured-field Date without parameters (RFC 9745 §2). */
function readDeprecation(value: unknown): Date {
  const [date, parameters] = parseItem(String(value));
  expect(date).toBeInstanceOf(Date);
  expect(parameters.size).toBe(0);
  return date as Date;
}

/** Parses an HTTP date in the preferred format (RFC 9110 §5.6.7). */
function readHttpDate(value: unknown): Date {
  const date = new Date(Date.parse(String(value)));
  expect(date.toUTCString()).toBe(value);
  return date;
}
