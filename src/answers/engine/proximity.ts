import type { Asked } from './asked.ts';

/** The words that a statement may be apart. */
const windowWords = 16;

/** A place in a text where a word stands for a concept. */
interface Mention {
  readonly at: number;
  readonly concept: number;
  readonly factor: number;
}

/** Gives the greatest share of what is asked for that stands close together in a text, from 0 to 1. */
export function proximityOf(text: readonly string[], asked: Asked): number {
  const mentions = findMentions(text, asked);
  let best = 0;
  let from = 0;
  mentions.forEach(({ at }, to) => {
    while (at - (mentions[from]?.at ?? at) >= windowWords) from += 1;
    best = Math.max(best, shareBetween(mentions, asked, { from, to }));
  });
  return best;
}

function shareBetween(
  mentions: readonly Mention[],
  { concepts, weight }: Asked,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const fits = new Float64Array(concepts.length);
  for (let at = from; at <= to; at += 1) {
    const { concept = 0, factor = 0 } = mentions[at] ?? {};
    fits[concept] = Math.max(fits[concept] ?? 0, factor);
  }
  const met = concepts.reduce((sum, one, at) => sum + one.weight * (fits[at] ?? 0), 0);
  return weight === 0 ? 0 : met / weight;
}

function findMentions(text: readonly string[], { standsFor }: Asked): readonly Mention[] {
  const mentions: Mention[] = [];
  text.forEach((term, at) => {
    for (const { concept, factor } of standsFor.get(term) ?? []) {
      mentions.push({ at, concept, factor });
    }
  });
  return mentions;
}
