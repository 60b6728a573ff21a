import type { IncomingMessage } from 'node:http';
import { parseWeighted, type WeightedItem } from '../../lib/http/accept.ts';

export type PageFormat = 'html' | 'markdown';

/** Returns whether `Accept` names JSON, Markdown or a feed, not only by a wildcard. */
export function namesFormat(accept: string | undefined): boolean {
  return accept !== undefined && /json|markdown|(?:atom|rss)\+xml/i.test(accept);
}

interface Offer<Format extends string> {
  readonly format: Format;
  /** Media ranges in `Accept` that select `format`, the most specific one first. */
  readonly ranges: readonly RegExp[];
  /** Wide ranges, such as `text/*`, tried after `ranges`; at equal quality, `ranges` win. */
  readonly wideRanges?: readonly RegExp[];
}

type Offers<Format extends string> = readonly [Offer<Format>, ...Offer<Format>[]];

const anything = /^\*\/\*$/;
const anyText = /^text\/\*$/;
const anyApplication = /^application\/\*$/;
const json = /^application\/json$/;
const wideRanges = [anyText, anything];
const htmlPage = {
  format: 'html',
  ranges: [/^(?:text\/html|application\/xhtml\+xml)$/],
  wideRanges,
} as const;
const markdownPage = {
  format: 'markdown',
  ranges: [/^text\/(?:x-)?markdown$/],
  wideRanges,
} as const;

const markdownRead = {
  format: 'markdown',
  ranges: [/^text\/(?:markdown|x-markdown|plain)$/, anyText],
  wideRanges: [anything],
} as const;

const feeds = [
  { format: 'atom', ranges: [/^application\/atom\+xml$/] },
  { format: 'rss', ranges: [/^application\/rss\+xml$/] },
  { format: 'jsonfeed', ranges: [/^application\/feed\+json$/] },
] as const;

export const offers = {
  read: [
    markdownRead,
    { format: 'json', ranges: [/^application\/(?:json|[^/]+\+json)$/, anyApplication] },
  ],
  readWithFeeds: [
    markdownRead,
    { format: 'json', ranges: [/^application\/(?:json|(?!feed\+)[^/]+\+json)$/, anyApplication] },
    ...feeds,
  ],
  apiIndex: [
    { format: 'json', ranges: [json, anyApplication], wideRanges: [anything] },
    { format: 'markdown', ranges: markdownPage.ranges },
  ],
  history: [
    { format: 'json', ranges: [json] },
    { format: 'ndjson', ranges: [/^application\/(?:x-)?ndjson$/] },
    ...feeds,
  ],
  problem: [{ format: 'json', ranges: [/^application\/.*json$/], wideRanges }, htmlPage],
  docs: [htmlPage, markdownPage],
  frontPage: [markdownPage, htmlPage],
  ask: [
    { ...markdownPage, ranges: [/^text\/(?:(?:x-)?markdown|plain)$/] },
    htmlPage,
    { format: 'json', ranges: [json, anyApplication] },
  ],
} as const satisfies Readonly<Record<string, Offers<string>>>;

type Request = Pick<IncomingMessage, 'headers'>;

/**
 * Returns whether a browser that prefers HTML to JSON navigates (`docs/contract/reads.md#errors`).
 * Without `Sec-Fetch-Mode`, only `Accept` decides: browsers send it only over HTTPS and to loopback
 * (https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header).
 */
export function isNavigation({ headers }: Request): boolean {
  const { 'sec-fetch-mode': mode = 'navigate', accept } = headers;
  return mode === 'navigate' && negotiate(accept, offers.problem) === 'html';
}

/** Returns whether a browser that prefers HTML to JSON and Markdown navigates. */
export function isPageNavigation(request: Request): boolean {
  return isNavigation(request) && negotiate(request.headers.accept, offers.frontPage) === 'html';
}

/** Returns the best format by `Accept` (RFC 9110 §12.5.1), or the default if it allows none. */
export function negotiate<Format extends string>(
  accept: string | undefined,
  [usual, ...others]: Offers<Format>,
): Format {
  if (accept === undefined || accept === '*/*') return usual.format;
  const ranges = parseWeighted(accept);
  let chosen = { format: usual.format, range: findRange(usual, ranges) };
  for (const other of others) {
    const range = findRange(other, ranges);
    if (isPreferred(range, chosen.range)) chosen = { format: other.format, range };
  }
  return chosen.format;
}

type DecidingRange = WeightedItem & { readonly isWide: boolean };

function findRange(offer: Offer<string>, ranges: readonly WeightedItem[]): DecidingRange | null {
  const wide = offer.wideRanges ?? [];
  for (const pattern of [...offer.ranges, ...wide]) {
    const [best] = ranges
      .filter(({ name }) => pattern.test(name))
      .toSorted((a, b) => b.quality - a.quality);
    if (best !== undefined) {
      return best.quality === 0 ? null : { ...best, isWide: wide.includes(pattern) };
    }
  }
  return null;
}

function isPreferred(a: DecidingRange | null, b: DecidingRange | null): boolean {
  if (a === null || b === null) return a !== null;
  if (a.quality !== b.quality) return a.quality > b.quality;
  return a.isWide === b.isWide ? a.position < b.position : b.isWide;
}
