import type { Block, ReadFile, Section } from '../readers/section.ts';
import { toWords } from '../text/words.ts';
import type { Field } from './schema.ts';

/** The terms of each field, in the order of the text. */
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

interface FileFacts {
  readonly corpus: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

/** A file in the form in which the index stores it. */
export type AnalysedFile = ReturnType<typeof analyseFile>;

/** Splits a file into passages, and finds their terms. A file without text is stored without passages. */
export function analyseFile(facts: FileFacts, read: ReadFile | undefined) {
  const { title, sections } = read ?? { title: '', sections: [] };
  const passages = sections.flatMap(splitSection);
  return {
    facts,
    title,
    lead: joinStems(toWords(leadOf(sections))),
    /** The words in it that a misspelt word may stand for. */
    spellings: new Set(passages.flatMap(spellingsOf)),
    passages: passages.map(({ heading, trail, line, endLine, blocks }) => {
      const code = blocks.filter(({ kind }) => kind === 'code');
      const above = [`${title} ${pathText(facts.path)}`, trail.join('\n'), heading].map(toWords);
      const inText = [proseOf(blocks), textOf(code)].map(toWords);
      const parts = [...above, ...inText];
      // In the order of `fields`.
      const columns = [...parts.map(joinStems), parts.flatMap(({ names }) => names).join(' ')];
      return {
        heading,
        trail: JSON.stringify(trail),
        line,
        endLine,
        words: inText.reduce((sum, { words }) => sum + words.length, 0),
        terms: columns.join('\n'),
        blocks: JSON.stringify(blocks),
        columns,
      };
    }),
  };
}

/** Returns the terms of each field from the text that `analyseFile` made of them, in the order of `fields`. */
export function unpackTerms(packed: string): FieldTerms {
  const lines = packed.split('\n').map((line) => (line === '' ? [] : line.split(' ')));
  const [title = [], trail = [], heading = [], body = [], code = [], names = []] = lines;
  return { title, trail, heading, body, code, names };
}

/** The number of characters from which a section is split; code is never cut. */
const softLimit = 1800;

/** Each part begins at the line of its first block, the first one at that of the heading. */
function splitSection(section: Section): readonly Section[] {
  const parts = splitBlocks(section.blocks);
  return parts.map((blocks, number) => {
    const line = number === 0 ? section.line : (blocks[0]?.line ?? section.line);
    const last = blocks.reduce((end, block) => Math.max(end, block.endLine), line);
    const endLine = number === parts.length - 1 ? Math.max(last, section.endLine) : last;
    return { ...section, line, endLine, blocks };
  });
}

/** Groups blocks up to about the limit; a section without any is one group. */
function splitBlocks(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const parts: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    // Code stays with the text that leads to it.
    if (size > 0 && size + block.text.length > softLimit && block.kind !== 'code') {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(block);
    size += block.text.length;
  }
  return parts;
}

const proseOf = (blocks: readonly Block[]) => textOf(blocks.filter(({ kind }) => kind !== 'code'));

function textOf(blocks: readonly Block[]): string {
  return blocks.map(({ text }) => withoutAddresses(text)).join('\n');
}

/** The target of a link says nothing about the subject of its text. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(/\]\([^()\s]{1,500}(?:\s+"[^"]{0,200}")?\)/g, '] ')
    .replaceAll(/https?:\/\/\S+/g, ' ');
}

/** The words of a path, without its extension and the numbers that order it. */
function pathText(path: string): string {
  const steps = path.replace(/\.\w+$/, '').split('/');
  return steps.map((step) => step.replace(/^\d+[-_. ]/, '')).join(' ');
}

/** The number of characters of a file's first words, which say what it is about. */
const leadLength = 400;

function leadOf(sections: readonly Section[]): string {
  const blocks = sections.slice(0, 3).flatMap((section) => section.blocks);
  const texts = blocks.filter(({ kind }) => kind === 'text');
  return textOf(texts.slice(0, 2)).slice(0, leadLength);
}

function joinStems({ words }: ReturnType<typeof toWords>): string {
  return words.map(({ stem }) => stem).join(' ');
}

/** Returns the words of a passage that a misspelt word may stand for. */
export function spellingsOf({ heading, blocks }: Pick<Section, 'heading' | 'blocks'>) {
  const plains = toWords(`${heading}\n${proseOf(blocks)}`).words.map(({ plain }) => plain);
  return plains.filter((word) => /^\p{L}{4,30}$/u.test(word));
}
