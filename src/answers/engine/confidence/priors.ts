import type { FoundPassage } from '../../index/passage-index.ts';
import type { Intent } from '../question/intent.ts';

/** What the form of a passage must be like to suit each kind of question. */
const suits: Readonly<Record<Intent, (passage: FoundPassage) => boolean>> = {
  howTo: ({ terms }) => terms.code.length > 0,
  meaning: ({ heading, line }) => line <= 12 || introducing.test(heading),
  default: ({ terms }) => terms.body.includes('default') || terms.code.includes('default'),
  trouble: ({ heading }) => troubled.test(heading),
  definition: ({ terms }) => terms.code.length > 0,
  none: () => false,
};

const introducing = /^(?:overview|introduction|what|description|about)\b/i;
const troubled = /error|trouble|fail|issue|problem|fix|solution|debug|faq|common/i;

/** Says how well the form of a passage suits what kind of section is wanted, from 0 to 1. */
export function fitOfIntent(intent: Intent, passage: FoundPassage): number {
  return suits[intent](passage) ? 1 : 0;
}

/** Pages about what was, or lists of what is elsewhere: they name much and answer little. */
const historyPath =
  /(?:^|\/)(?:change-?log|changes|history|release-?notes?|releases?|news|upgrad\w+|migrat\w+|blog|decisions|adr|rfcs?|archive|glossary|index|contributing|licen[cs]e|code[-_]of[-_]conduct|tests?|__tests__|fixtures)(?:[-/.]|$)/i;
const historyHeading =
  /^(?:see also|related|further reading|next steps|table of contents|contents|version history|changelog|learn more|references?|index)$/i;

/** True for a passage about what was, or of pointers elsewhere. */
export function isHistory({ path, heading }: Pick<FoundPassage, 'path' | 'heading'>): boolean {
  return (
    historyPath.test(path.replaceAll(/(^|\/)\d+[-_.]/g, '$1')) ||
    historyHeading.test(heading.trim())
  );
}
