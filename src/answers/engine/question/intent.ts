import type { FoundPassage } from '../../index/passage-index.ts';

/** The kind of section that a question hints at. */
export type Intent = 'howTo' | 'meaning' | 'default' | 'trouble' | 'definition' | 'none';

const hints: readonly (readonly [Intent, RegExp])[] = [
  [
    'default',
    /\b(?:defaults?|by default|how (?:many|much|long|often|big|large)|maximum|minimum|limit)\b/i,
  ],
  ['trouble', /\b(?:errors?|fails?|failed|failing|broken?|crash\w*|slow)\b/i],
  ['trouble', /\b(?:why (?:do|does|is|are|did)|cannot|can'?t|not working|doesn'?t)\b/i],
  [
    'definition',
    /\b(?:which (?:file|module|function|class)|where is \S+ (?:defined|declared|implemented)|defines?|signature)\b/i,
  ],
  ['meaning', /^\s*(?:what(?:'s| is| are| does)|explain|describe|meaning of)\b/i],
  ['howTo', /\b(?:how (?:do|can|to|should)|example|sample|way to)\b/i],
  [
    'howTo',
    /^\s*(?:make|use|set|add|create|run|turn|send|read|write|let|put|get|enable|disable)\b/i,
  ],
];

/** Returns the kind of section that a question hints at. */
export function toIntent(question: string): Intent {
  return hints.find(([, pattern]) => pattern.test(question))?.[0] ?? 'none';
}

const introducing = /^(?:overview|introduction|what|description|about)\b/i;
const troubled = /error|trouble|fail|issue|problem|fix|solution|debug|faq|common/i;

/** Whether the form of a passage suits each kind of question. */
export const suitsIntent: Readonly<Record<Intent, (passage: FoundPassage) => boolean>> = {
  howTo: ({ terms }) => terms.code.length > 0,
  meaning: ({ heading, line }) => line <= 12 || introducing.test(heading),
  default: ({ terms }) => terms.body.includes('default') || terms.code.includes('default'),
  trouble: ({ heading }) => troubled.test(heading),
  definition: ({ terms }) => terms.code.length > 0,
  none: () => false,
};
