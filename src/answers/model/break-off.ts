import type { Answer, Citation } from '../answer.ts';
import {
  bestFirst,
  cutAtWord,
  maxAnswerLength,
  maxCitations,
  printSources,
} from '../engine/compose.ts';

const notices = {
  continued: 'The answer of the language model broke off here. The documentation says:',
  alone: 'The answer of the language model broke off here.',
} as const;

/** Continues an answer that broke off: what was shown, why it stops, the other answer, and the sources of both. */
export function continueBrokenOff(
  { shown, citations: before }: { readonly shown: string; readonly citations: readonly Citation[] },
  other: Answer,
): Answer {
  const citations = joinCitations(before, other.abstained ? [] : other.citations);
  const sources = printSources(citations);
  const room = maxAnswerLength - shown.length - notices.continued.length - sources.length - 6;
  const body = other.abstained ? '' : bodyOf(other);
  const told = body.length <= room ? body : cutAtWord(body, room);
  const parts = told === '' ? [shown, notices.alone] : [shown, notices.continued, told];
  return {
    text: [...parts, sources].join('\n\n'),
    citations,
    abstained: false,
    finishReason: told === body ? other.finishReason : 'length',
  };
}

function bodyOf({ text, citations }: Answer): string {
  const sources = printSources(citations);
  return (text.endsWith(sources) ? text.slice(0, -sources.length) : text).trim();
}

/** Two places in one section are one source. */
function joinCitations(before: readonly Citation[], more: readonly Citation[]) {
  const others = more.filter(
    ({ path, heading }) => !before.some((one) => one.path === path && one.heading === heading),
  );
  return bestFirst([...before, ...others].slice(0, maxCitations));
}
