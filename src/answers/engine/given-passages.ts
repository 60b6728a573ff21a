import type { Citation, Question } from '../answer.ts';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import type { Block } from '../readers/section.ts';
import { fence } from './excerpt.ts';
import { type Found, type FoundSource, toCitedScore } from './find.ts';
import { toShownHeading } from './shown-heading.ts';

/** A passage as a language model gets it. */
export interface GivenPassage {
  /** Its row in the index. */
  readonly id: number;
  readonly citation: Citation;
  /** The headings above it and its own, outermost first. */
  readonly trail: readonly string[];
  /** All that stands in it, as Markdown. */
  readonly text: string;
}

/** Finds passages for a question, and says whether they still stand in the index. May work in another thread. */
export interface PassageSource {
  /** Best first; those that an extractive answer would cite come before others. Empty where nothing is met. */
  find(question: Question): Promise<readonly GivenPassage[]>;
  /** False once the file of the passage has changed. */
  isCurrent(passage: GivenPassage): Promise<boolean>;
}

/** What passages are taken from. */
export interface PassageSourceOptions {
  readonly index: PassageIndex;
  findFor(question: Question): Found;
  toCited(passage: Pick<FoundPassage, 'corpus' | 'path'>): string;
}

/** The most passages that are given, and looked at: some are a heading alone, which answers nothing. */
const limits = { given: 8, looked: 12 } as const;

/** Creates the source of passages over what an engine finds. */
export function createPassageSource(options: PassageSourceOptions): PassageSource {
  const { index, findFor, toCited } = options;
  const textOf = (id: number) => toMarkdown(index.blocks(id));
  return {
    // All of it from one state of the index: another thread may be writing.
    find: async (question) =>
      index.atOnce(() => {
        const found = findFor(question);
        const give = (source: FoundSource): GivenPassage => {
          const { id, heading, line, endLine, trail, ...file } = source.scored.passage;
          const score = toCitedScore(source, found.confidence);
          const shown = toShownHeading({ path: file.path, heading });
          return {
            id,
            citation: { path: toCited(file), heading: shown, line, endLine, score },
            trail: [...trail, heading].filter((one) => one !== ''),
            text: textOf(id),
          };
        };
        const passages = chooseGiven(found).map(give);
        return passages.filter(({ text }) => text !== '').slice(0, limits.given);
      }),
    isCurrent: async ({ id, citation, text }) =>
      index.atOnce(() => {
        const now = index.passage(id);
        if (now === undefined || toCited(now) !== citation.path) return false;
        return (
          now.line === citation.line && now.endLine === citation.endLine && textOf(id) === text
        );
      }),
  };
}

/** Those that an answer would cite, then the next best ones for the question as a whole. */
function chooseGiven({ leading, further }: Found): readonly FoundSource[] {
  const chosen = [...leading, ...further];
  const findings = leading[0]?.findings;
  for (const scored of findings?.scored ?? []) {
    if (findings === undefined || chosen.length >= limits.looked) break;
    if (!chosen.some((one) => one.scored.passage.id === scored.passage.id)) {
      chosen.push({ scored, findings });
    }
  }
  return chosen;
}

function toMarkdown(blocks: readonly Block[]): string {
  return blocks
    .map((block, at) => {
      const isList = block.kind === 'item' || block.kind === 'row';
      const separator =
        at === 0 ? '' : isList && blocks[at - 1]?.kind === block.kind ? '\n' : '\n\n';
      return separator + printBlock(block);
    })
    .join('');
}

function printBlock(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'code':
      return fence(block);
    case 'item':
    case 'row':
      return `- ${block.text.replaceAll('\n', '\n  ')}`;
  }
}
