import { trimEndOf } from '../../core/trim-end.ts';
import type { Segment } from './segments.ts';

/** Returns whether all links and locations, except in code examples, occur in `known`. */
export function hasKnownLinksOnly(segments: readonly Segment[], known: string): boolean {
  const words = textsOf(segments, 'words');
  const inline = words + textsOf(segments, 'span');
  const targets = [...linkTargets(words), ...addresses(words), ...citedLocations(inline)];
  return targets.every((target) => includesWhole(target, known));
}

/** Returns whether one of the texts contains all lines of a code span or code block. */
export function isKnownCode({ kind, text: code }: Segment, texts: readonly string[]): boolean {
  const span = trimEndOf(code.replace(/^`+/, ''), '`');
  const lines = kind === 'block' ? code.trim().split('\n').slice(1, -1) : span.split('\n');
  return texts.some((text) => lines.every((line) => text.includes(line.trim())));
}

function textsOf(segments: readonly Segment[], kind: Segment['kind']): string {
  const texts = segments.filter((segment) => segment.kind === kind).map(({ text }) => text);
  return texts.join(' ');
}

function linkTargets(text: string): readonly string[] {
  return [...text.matchAll(/\]\(\s*<?([^)\s>]+)/g)].map(([, target = '']) =>
    withoutPunctuation(target),
  );
}

function addresses(text: string): readonly string[] {
  return text.split(/[\s<>"'`\])]+/).flatMap((word) => {
    const colon = word.indexOf('://');
    if (colon < 0 || colon + 3 === word.length) return [];
    const start = schemeStart(word, colon);
    return start === colon ? [] : [withoutPunctuation(word.slice(start))];
  });
}

function schemeStart(text: string, colon: number): number {
  let start = colon;
  while (start > 0 && /[a-z0-9+.-]/i.test(text.charAt(start - 1))) start -= 1;
  while (start < colon && !/[a-z]/i.test(text.charAt(start))) start += 1;
  return start;
}

const withoutPunctuation = (target: string) => trimEndOf(target, '.,;:!?*_');

function citedLocations(text: string): readonly string[] {
  return text.split(/[\s`()]+/).flatMap((word) => {
    const [place = ''] = /^.*:\d+/.exec(word) ?? [];
    const hash = place.indexOf('#', 1);
    return hash > 0 && hash + 1 < place.lastIndexOf(':') ? [withoutPunctuation(place)] : [];
  });
}

function includesWhole(target: string, known: string): boolean {
  for (let at = known.indexOf(target); at >= 0; at = known.indexOf(target, at + 1)) {
    if (!/\d$/.test(target) || !/\d/.test(known[at + target.length] ?? '')) return true;
  }
  return false;
}
