import { trimEndOf } from '../../core/trim-end.ts';
import type { Stretch } from './markers.ts';

/** Returns whether all links and places of a text were given. Code has made-up addresses, so only its places count. */
export function hasKnownPlacesOnly(stretches: readonly Stretch[], known: string): boolean {
  const words = textOf(stretches, 'words');
  const inline = words + textOf(stretches, 'span');
  const targets = [...linkTargets(words), ...addresses(words), ...citedPlaces(inline)];
  return targets.every((target) => stands(target, known));
}

function textOf(stretches: readonly Stretch[], kind: Stretch['kind']): string {
  const texts = stretches.filter((stretch) => stretch.kind === kind).map(({ text }) => text);
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

function citedPlaces(text: string): readonly string[] {
  return text.split(/[\s`()]+/).flatMap((word) => {
    const [place = ''] = /^.*:\d+/.exec(word) ?? [];
    const sign = place.indexOf('#', 1);
    return sign > 0 && sign + 1 < place.lastIndexOf(':') ? [withoutPunctuation(place)] : [];
  });
}

/** Line 3 does not stand where line 35 does. */
function stands(target: string, known: string): boolean {
  for (let at = known.indexOf(target); at >= 0; at = known.indexOf(target, at + 1)) {
    if (!/\d$/.test(target) || !/\d/.test(known[at + target.length] ?? '')) return true;
  }
  return false;
}
