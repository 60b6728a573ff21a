import type { Stretch } from './markers.ts';

/** Forms in which a text leads elsewhere: targets of links, addresses, and places as Perch cites them. */
const forms = [/\]\(\s*<?([^)\s>]+)/g, /\b([a-z][a-z0-9+.-]*:\/\/[^\s<>"'`\])]+)/gi] as const;
const cited = /([^\s`()]+#[^\s`()]+:\d+)/g;

/**
 * Gives the first thing that a text leads to and that stands in nothing the model was given: a link, an
 * address, a place. Code is looked at for places only, because samples have made-up addresses.
 */
export function findUnknownPlace(stretches: readonly Stretch[], known: string): string | undefined {
  const words = textOf(stretches, 'words');
  const inline = words + textOf(stretches, 'span');
  const targets = [...forms.flatMap((form) => matchesOf(words, form)), ...matchesOf(inline, cited)];
  return targets.find((target) => !stands(target, known));
}

function textOf(stretches: readonly Stretch[], kind: Stretch['kind']): string {
  return stretches
    .filter((stretch) => stretch.kind === kind)
    .map(({ text }) => text)
    .join(' ');
}

/** What ends a sentence is not part of an address. */
function matchesOf(text: string, form: RegExp): readonly string[] {
  return [...text.matchAll(form)].map(([, target = '']) => target.replace(/[.,;:!?*_]+$/, ''));
}

/** Line 3 does not stand where line 35 does. */
function stands(target: string, known: string): boolean {
  for (let at = known.indexOf(target); at >= 0; at = known.indexOf(target, at + 1)) {
    if (!/\d$/.test(target) || !/\d/.test(known[at + target.length] ?? '')) return true;
  }
  return false;
}
