import type { Passage } from '../passages.ts';
import type { Block, ReadFile } from '../readers/section.ts';
import { toWords } from '../text/words.ts';
import { type Field, fields } from './schema.ts';

/** The terms of each field, in the order of the text. */
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

/** What a passage is found by. */
export interface PassageSource {
  readonly path: string;
  readonly title: string;
  readonly passage: Passage;
}

/** Gives the terms that a passage is found by. */
export function toFieldTerms({ path, title, passage }: PassageSource): FieldTerms {
  const inTitle = toWords(`${title} ${pathText(path)}`);
  const inTrail = toWords(passage.trail.join('\n'));
  const inHeading = toWords(passage.heading);
  const inBody = toWords(textOf(passage, prose));
  const inCode = toWords(textOf(passage, code));
  const stems = ({ words }: typeof inBody) => words.map(({ stem }) => stem);
  const names = [inTitle, inTrail, inHeading, inBody, inCode].flatMap((part) => part.names);
  return {
    title: stems(inTitle),
    trail: stems(inTrail),
    heading: stems(inHeading),
    body: stems(inBody),
    code: stems(inCode),
    names,
  };
}

const prose: ReadonlySet<Block['kind']> = new Set(['text', 'item', 'row']);
const code: ReadonlySet<Block['kind']> = new Set(['code']);

function textOf({ blocks }: Pick<Passage, 'blocks'>, kinds: ReadonlySet<Block['kind']>): string {
  return blocks
    .filter(({ kind }) => kinds.has(kind))
    .map(({ text }) => withoutAddresses(text))
    .join('\n');
}

/** Where a link leads says nothing of what its text is about. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(/\]\([^()\s]{1,500}(?:\s+"[^"]{0,200}")?\)/g, '] ')
    .replaceAll(/https?:\/\/\S+/g, ' ');
}

/** The words of a path, without its extension and the numbers that order it. */
function pathText(path: string): string {
  return path
    .replace(/\.\w+$/, '')
    .split('/')
    .map((step) => step.replace(/^\d+[-_. ]/, ''))
    .join(' ');
}

/** Gives terms as one text, a line for each field. */
export function packTerms(terms: FieldTerms): string {
  return fields.map((field) => terms[field].join(' ')).join('\n');
}

/** Gives the terms of a text that `packTerms` made. */
export function unpackTerms(packed: string): FieldTerms {
  const lines = packed.split('\n');
  const of = (field: Field) => {
    const line = lines[fields.indexOf(field)] ?? '';
    return line === '' ? [] : line.split(' ');
  };
  return {
    title: of('title'),
    trail: of('trail'),
    heading: of('heading'),
    body: of('body'),
    code: of('code'),
    names: of('names'),
  };
}

/** The characters of a file's first words that say what it is about. */
const leadLength = 400;

/** Gives the terms of the first words of a file, where most files say what they are about. */
export function leadTerms({ sections }: ReadFile): readonly string[] {
  const texts = sections
    .slice(0, 3)
    .flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'text'));
  const lead = texts
    .slice(0, 2)
    .map(({ text }) => withoutAddresses(text))
    .join('\n');
  return toWords(lead.slice(0, leadLength)).words.map(({ stem }) => stem);
}

/** Gives the words of a passage that a misspelt word may have been meant as. */
export function spellingsOf(passage: Pick<Passage, 'heading' | 'blocks'>): readonly string[] {
  const text = `${passage.heading}\n${textOf(passage, prose)}`;
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((word) => /^\p{L}{4,30}$/u.test(word));
}
