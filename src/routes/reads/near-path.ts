import { encodeComponent } from '../../lib/http/url.ts';
import { redactKeys } from '../../lib/redact.ts';
import { editDistance } from '../../lib/suggest.ts';
import { splitPath } from '../../model/addresses/match-form.ts';
import { parseHandle } from '../../model/reference.ts';
import { isPermalinkHandle } from '../../reads/addresses/own-paths.ts';

const limits = { path: 300, segment: 64, query: 500 } as const;

const endings: Readonly<Record<string, string>> = {
  json: 'json',
  rss: 'rss',
  xml: 'rss',
  atom: 'atom',
  html: 'html',
  md: 'markdown',
  txt: 'markdown',
};

/** Creates a function that suggests a path for an unknown one; `null` if none is similar. */
export function createPathSuggestions(patterns: readonly string[]) {
  const closed = new Set(patterns.map((path) => path.replace(/\/\*$/, '')));
  const known = [...closed].map((path) => path.slice(1).split('/'));
  return (target: string): string | null => {
    const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
    const segments = path.length > limits.path ? [] : splitPath(path);
    const isShort = segments.every(({ length }) => length <= limits.segment);
    const found = isShort ? (findNearest(segments, known) ?? findByEnding(segments)) : null;
    return found && redactKeys(addQuery(found, query));
  };
}

function addQuery(path: string, query: string): string {
  const isRepeated = query !== '' && query.length <= limits.query && !/[^!-~]|[`<>"]/.test(query);
  return isRepeated ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
}

function findByEnding([first = '', ...more]: readonly string[]): string | null {
  const [, name = '', ending = ''] = /^(.+)\.([a-z]{2,4})$/.exec(first.toLowerCase()) ?? [];
  const format = Object.hasOwn(endings, ending) ? endings[ending] : undefined;
  const isHandle = more.length === 0 && isPermalinkHandle(name) && parseHandle(name) !== null;
  return isHandle && format !== undefined ? `/${writeSegment(name)}?format=${format}` : null;
}

function findNearest(
  segments: readonly string[],
  known: readonly (readonly string[])[],
): string | null {
  let nearest: readonly string[] | null = null;
  let least = 3; // a suggestion differs in one or two letters
  for (const parts of known) {
    const distance = parts.length === segments.length ? compare(parts, segments) : 0;
    if (distance > 0 && distance < least) [nearest, least] = [parts, distance];
  }
  return nearest && `/${nearest.map((part, at) => fill(part, segments[at] ?? '')).join('/')}`;
}

function compare(parts: readonly string[], segments: readonly string[]): number {
  let sum = 0;
  for (const [at, part] of parts.entries()) {
    sum += compareSegment(part, segments[at] ?? '', at === 0);
    if (sum > 2) return 3;
  }
  return sum;
}

function compareSegment(part: string, segment: string, isFirst: boolean): number {
  if (!part.includes('{')) return compareFixed(part, segment);
  if (!part.startsWith('{handle}')) return /^[\w.:~-]+$/.test(segment) ? 0 : 3;
  return parseHandle(segment) !== null && (!isFirst || isPermalinkHandle(segment)) ? 0 : 3;
}

function compareFixed(part: string, segment: string): number {
  if (part === segment) return 0;
  const most = Math.min(2, Math.floor((part.length - 1) / 2));
  const distance = editDistance(segment.toLowerCase(), part, most);
  // A path that differs only in case is another path too.
  return distance > most ? 3 : Math.max(1, distance);
}

const fill = (part: string, segment: string): string =>
  part.includes('{') ? writeSegment(segment) : part;

const writeSegment = (text: string): string =>
  encodeComponent(text).replaceAll('%40', '@').replaceAll('%3A', ':');
