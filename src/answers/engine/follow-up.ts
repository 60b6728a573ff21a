import type { Citation, EarlierTurn, Question } from '../answer.ts';
import type { FoundPassage } from '../index/passage-index.ts';
import { toShownHeading } from '../readers/markdown.ts';
import { toWords, type Vocabulary } from '../text/words.ts';
import type { Concepts } from './concepts.ts';
import { contentWords, type Query, toQuery } from './query.ts';

const pronouns =
  /\b(?:it|its|that|this|they|them|their|these|those|there|one|same|former|latter|above)\b/i;
const opening = /^\s*(?:and|but|or|also|then|so|what about|how about|why|which one|ok|okay)\b/i;
/** Matches the start of a question that only adds a condition, such as “on Windows?”. */
const circumstance =
  /^\s*(?:after|as|at|before|by|during|even|for|from|if|in|on|only|still|to|when|with|without|which)\b/i;
const minContentWords = 4;
const maxAddedWords = 6;

/** Returns the context of an incomplete question: words (`topic`) and last citations (`cited`). */
export function resolveFollowUp(
  { text, earlier }: Question,
  aside: string,
  vocabulary: Vocabulary,
) {
  const none = { topic: '', cited: [] };
  const isEmpty = contentWords(text, vocabulary).length === 0;
  if (aside !== '' && isEmpty) {
    return { ...none, topic: contentWords(aside, vocabulary).slice(0, maxAddedWords).join(' ') };
  }
  if (!isFollowUp(text, vocabulary)) return none;
  const last = earlier.at(-1);
  if (last === undefined) return none;
  return { topic: subjectOf(earlier, vocabulary).join(' '), cited: last.citations };
}

function isFollowUp(text: string, vocabulary: Vocabulary): boolean {
  const count = contentWords(text, vocabulary).length;
  if (count === 0) return true;
  const refers =
    opening.test(text) ||
    circumstance.test(text) ||
    pronouns.test(text.replace(/\b(?:is|are) there\b/i, ''));
  return count < minContentWords && refers;
}

function subjectOf(earlier: readonly EarlierTurn[], vocabulary: Vocabulary): readonly string[] {
  for (const { question } of earlier.toReversed()) {
    const words = contentWords(question, vocabulary);
    if (words.length === 0 || isFollowUp(question, vocabulary)) continue;
    // Identifiers, such as an error code, describe a subject better than the words that they
    // consist of.
    return [...toWords(question).names, ...words].slice(0, maxAddedWords);
  }
  return earlier
    .slice(-2)
    .flatMap(({ question }) => contentWords(question, vocabulary))
    .slice(0, maxAddedWords);
}

/** Bonuses for a subsection of a cited `file`, and for the first cited passage (`shown`). */
const recentBonuses = {
  file: 0.4,
  shown: { named: 1, matched: 0.4, varied: 0, other: -2 },
} as const;
/** Matches questions for a name in the quoted passage, such as “and which variable is that?”. */
const asksForName =
  /\bwh(?:ich|at)(?: is the)? (?:command|field|file|flag|header|option|parameter|setting|variable)\b/i;
/** Matches follow-up questions that replace a part of the last one, such as “and Cursor?”. */
const variation =
  /^\s*(?:(?:(?:and|or|but|also) )+(?!how|what|which|where|when|why|who|can|is|are|does|do)|(?:what|how) about\b)/i;
/** Query for a question that asks for a name (`isNamed`) or replaces a part (`isVaried`). */
export type FollowUpQuery = Readonly<{ query: Query; isNamed: boolean; isVaried: boolean }>;

export function toFollowUpQuery(text: string, { concepts }: Concepts): FollowUpQuery {
  return {
    query: toQuery(concepts),
    isNamed: asksForName.test(text),
    isVaried: variation.test(text),
  };
}

/** Returns whether the previous answer, with the given citations, cited the passage first. */
export function isCitedFirst(passage: FoundPassage, [first]: readonly Citation[]): boolean {
  return first?.path === passage.path && first.heading === toShownHeading(passage);
}

/** Returns the amount to add to a score because of the citations of the previous answer. */
export function toRecentBonus(
  passage: FoundPassage,
  followUp: FollowUpQuery,
  recent: readonly Citation[],
): number {
  if (isCitedFirst(passage, recent)) return toShownBonus(passage, followUp);
  const isRecent = passage.trail.length > 0 && recent.some(({ path }) => path === passage.path);
  return isRecent ? recentBonuses.file : 0;
}

function toShownBonus(
  { terms }: FoundPassage,
  { query, isNamed, isVaried }: FollowUpQuery,
): number {
  const { named, matched, varied, other } = recentBonuses.shown;
  if (isNamed) return named;
  const words = Object.values(terms).flat();
  if (!words.some((term) => query.matchesByTerm.has(term))) return other;
  return isVaried ? varied : matched;
}
