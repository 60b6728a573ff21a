import type { HistoryFormat } from '../model/history.ts';

/** What `Accept` can choose between; a `format` parameter wins over it. */
export type NegotiatedFormat = 'markdown' | 'json';

/** Tells whether `Accept` names a format of its own accord, rather than taking anything. */
export function namesFormat(accept: string | undefined): boolean {
  return accept !== undefined && /json|markdown/i.test(accept);
}

/** What `Accept` can choose between at the address of a page. */
export type PageFormat = 'html' | 'markdown';

/**
 * Chooses the format of a page by `Accept` (RFC 9110 §12.5.1, decisions section 7): the one that is
 * preferred, and `otherwise` where neither is preferred, as with `text/*`. No `Accept` is refused.
 */
export function negotiatePage(accept: string | undefined, otherwise: PageFormat): PageFormat {
  if (accept === undefined || accept === '*/*') return otherwise;
  const ranges = accept.split(',', 50).map(parseRange);
  const wide = [/^text\/\*$/, /^\*\/\*$/];
  const html = acceptedOf(ranges, [/^(?:text\/html|application\/xhtml\+xml)$/, ...wide]);
  const markdown = acceptedOf(ranges, [/^text\/(?:x-)?markdown$/, ...wide]);
  if (html === markdown) return otherwise;
  return rank(html, markdown) <= 0 ? 'html' : 'markdown';
}

/** Orders by preference; what is named is meant rather than what falls under a wider range. */
function rank(a: Range | undefined, b: Range | undefined): number {
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  const named = Number(isNamed(b)) - Number(isNamed(a));
  return b.quality - a.quality || named || a.position - b.position;
}

function acceptedOf(ranges: readonly Range[], patterns: readonly RegExp[]): Range | undefined {
  const range = mostSpecific(ranges, patterns);
  return range?.quality === 0 ? undefined : range;
}

function isNamed({ type }: Range): boolean {
  return !type.endsWith('/*');
}

interface Range {
  readonly type: string;
  readonly quality: number;
  readonly position: number;
}

/**
 * Chooses a format by `Accept` (RFC 9110 §12.5.1, decisions section 3): JSON where it is named and
 * nothing is preferred to it, otherwise Markdown. No `Accept` is refused.
 */
export function negotiateFormat(accept: string | undefined): NegotiatedFormat {
  if (accept === undefined || accept === '*/*' || !/json|application\/\*/i.test(accept)) {
    return 'markdown';
  }
  const ranges = accept.split(',', 50).map(parseRange);
  const json = mostSpecific(ranges, [/^application\/(?:json|[^/]+\+json)$/, /^application\/\*$/]);
  const markdown = mostSpecific(ranges, [/^text\/(?:markdown|x-markdown|plain)$/, /^text\/\*$/]);
  const anything = mostSpecific(ranges, [/^\*\/\*$/]);
  if (json === undefined || json.quality === 0) return 'markdown';
  if (markdown !== undefined) return isBefore(json, markdown) ? 'json' : 'markdown';
  return anything === undefined || json.quality >= anything.quality ? 'json' : 'markdown';
}

function parseRange(text: string, position: number): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((part) => part.startsWith('q='));
  const quality = q === undefined ? 1 : Number(q.slice(2));
  return { type, position, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The most specific range that fits decides (RFC 9110 §12.5.1); patterns come in that order. */
function mostSpecific(ranges: readonly Range[], patterns: readonly RegExp[]): Range | undefined {
  for (const pattern of patterns) {
    const found = best(ranges, pattern);
    if (found !== undefined) return found;
  }
  return undefined;
}

function best(ranges: readonly Range[], pattern: RegExp): Range | undefined {
  return ranges
    .filter(({ type }) => pattern.test(type))
    .reduce<Range | undefined>(
      (a, b) => (a === undefined || b.quality > a.quality ? b : a),
      undefined,
    );
}

function isBefore(a: Range, b: Range): boolean {
  return a.quality === b.quality ? a.position < b.position : a.quality > b.quality;
}

/**
 * Tells whether `Accept` asks for Markdown where JSON is what everybody else gets: it names Markdown,
 * and prefers neither JSON nor anything to it. `text/*` and `*\/*` name nothing.
 */
export function asksForMarkdown(accept: string | undefined): boolean {
  if (accept === undefined || !/markdown/i.test(accept)) return false;
  const ranges = accept.split(',', 50).map(parseRange);
  const markdown = best(ranges, /^text\/(?:x-)?markdown$/);
  if (markdown === undefined || markdown.quality === 0) return false;
  const json = mostSpecific(ranges, [/^application\/json$/, /^application\/\*$/]);
  if (json !== undefined) return isBefore(markdown, json);
  const anything = best(ranges, /^\*\/\*$/);
  return anything === undefined || markdown.quality >= anything.quality;
}

/**
 * Chooses the format of a history by `Accept`: a stream of lines where that is named and JSON is not
 * preferred to it, otherwise JSON. No `Accept` is refused.
 */
export function negotiateHistory(accept: string | undefined): HistoryFormat {
  if (accept === undefined || !/ndjson/i.test(accept)) return 'json';
  const ranges = accept.split(',', 50).map(parseRange);
  const lines = acceptedOf(ranges, [/^application\/(?:x-)?ndjson$/]);
  const json = acceptedOf(ranges, [/^application\/json$/]);
  return rank(lines, json) < 0 ? 'ndjson' : 'json';
}
