import type { Block, ReadFile, Section } from '../readers/section.ts';
import { foldName, toWords } from '../text/words.ts';
import type { Field } from './schema.ts';

/** Terms (word stems) of each text field of a passage, in the order of the text. */
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

interface FileFacts {
  readonly corpus: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

export type AnalysedFile = ReturnType<typeof analyseFile>;

/** Splits a parsed file into passages with their terms. A file without text has none. */
export function analyseFile(facts: FileFacts, read: ReadFile | undefined) {
  const { title, sections } = read ?? { title: '', sections: [] };
  const passages = sections.flatMap(splitSection);
  return {
    facts,
    title,
    lead: joinStems(toWords(leadOf(sections))),
    /** Words of the file that may be proposed as corrections of misspelt words. */
    spellings: new Set(passages.flatMap(spellingsOf)),
    passages: passages.map(({ heading, trail, line, endLine, blocks, defines }) => {
      const code = blocks.filter(({ kind }) => kind === 'code');
      const above = [`${title} ${pathText(facts.path)}`, trail.join('\n'), heading].map(toWords);
      const inText = [proseOf(blocks), textOf(code)].map(toWords);
      const parts = [...above, ...inText];
      const names = parts.flatMap((part) => part.names);
      // In the order of `fields`.
      const columns = [
        ...parts.map(joinStems),
        names.join(' '),
        [...new Set(defines.map(foldName))].join(' '),
      ];
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

/** Parses the stored terms of a passage: one line for each field, in the order of `fields`. */
export function unpackTerms(packed: string): FieldTerms {
  const lines = packed.split('\n').map((line) => (line === '' ? [] : line.split(' ')));
  const [title = [], trail = [], heading = [], body = [], code = [], names = [], defines = []] =
    lines;
  return { title, trail, heading, body, code, names, defines };
}

const softLimit = 1800;

function splitSection(section: Section): readonly Section[] {
  const parts = splitBlocks(section.blocks);
  return parts.map((blocks, number) => {
    const line = number === 0 ? section.line : (blocks[0]?.line ?? section.line);
    const last = blocks.reduce((end, block) => Math.max(end, block.endLine), line);
    const endLine = number === parts.length - 1 ? Math.max(last, section.endLine) : last;
    return { ...section, line, endLine, blocks, defines: number === 0 ? section.defines : [] };
  });
}

/** Groups blocks up to about `softLimit` characters. Returns one empty group for no blocks. */
function splitBlocks(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const parts: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    // Code stays with the text that introduces it.
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

/** Removes link targets, because the words of a URL are unrelated to the subject of a text. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(/\]\([^()\s]{1,500}(?:\s+"[^"]{0,200}")?\)/g, '] ')
    .replaceAll(/https?:\/\/\S+/g, ' ');
}

function pathText(path: string): string {
  const steps = path.replace(/\.\w+$/, '').split('/');
  return steps.map((step) => step.replace(/^\d+[-_. ]/, '')).join(' ');
}

const leadLength = 400;

function leadOf(sections: readonly Section[]): string {
  const blocks = sections.slice(0, 3).flatMap((section) => section.blocks);
  const texts = blocks.filter(({ kind }) => kind === 'text');
  return textOf(texts.slice(0, 2)).slice(0, leadLength);
}

function joinStems({ words }: ReturnType<typeof toWords>): string {
  return words.map(({ stem }) => stem).join(' ');
}

/** Returns the words of a passage that may be proposed as corrections of misspelt words. */
export function spellingsOf({ heading, blocks }: Pick<Section, 'heading' | 'blocks'>) {
  const plains = toWords(`${heading}\n${proseOf(blocks)}`).words.map(({ plain }) => plain);
  return plains.filter((word) => /^\p{L}{4,30}$/u.test(word));
}
