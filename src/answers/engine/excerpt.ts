import type { Block } from '../readers/section.ts';
import { toWords } from '../text/words.ts';
import { type Asked, shareMet } from './asked.ts';
import type { Concepts } from './concepts.ts';

type Piece = Pick<Statement, 'block' | 'text'>;

/** A sentence, an item, a row or code, with how well it answers. */
type Statement = Readonly<{ block: Block; text: string; at: number; value: number }>;

interface ExcerptQuestion extends Pick<Concepts, 'names'> {
  readonly asked: Asked;
}

/** Maximum number of statements, and of characters of text and of code. */
type ExcerptLimits = Readonly<{ statements: number; text: number; code: number }>;

/** Returns the best statements of a passage in their order, and a sample of code, as Markdown, with their lines. */
export function toExcerpt(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  limits: ExcerptLimits,
) {
  const statements = blocks
    .flatMap((block, index) => toStatements(block, index, question))
    // A row without a word of the question, such as the first of a table, says nothing by itself.
    .filter(({ block, value }) => block.kind !== 'row' || value > 0)
    .sort((a, b) => b.value - a.value || a.at - b.at);
  const told = takeFitting(statements, limits).sort((a, b) => a.at - b.at);
  const code = chooseCode(blocks, question, { after: statements[0]?.at ?? 0, most: limits.code });
  // As in the file, but an answer does not begin with code if there are words for it.
  const before = told.filter(({ at }) => code !== undefined && at < code.at).length;
  const pieces = code === undefined ? told : told.toSpliced(Math.max(1, before), 0, code);
  if (pieces.length === 0) return undefined;
  return {
    text: joinPieces(pieces),
    line: Math.min(...pieces.map(({ block }) => block.line)),
    endLine: Math.max(...pieces.map(({ block }) => block.endLine)),
  };
}

/** Returns all that is in a passage, as Markdown. */
export function toMarkdown(blocks: readonly Block[]): string {
  return joinPieces(
    blocks.map((block) => ({ block, text: block.kind === 'code' ? fence(block) : block.text })),
  );
}

function takeFitting(statements: readonly Statement[], limits: ExcerptLimits): Statement[] {
  const chosen: Statement[] = [];
  let left = limits.text;
  for (const statement of statements) {
    if (left < 40 || chosen.length >= limits.statements) break;
    const text = shorten(statement.text, left);
    chosen.push({ ...statement, text });
    left -= text.length;
  }
  return chosen;
}

/** The first block of a section says what it is about, so it counts more. */
function toStatements(block: Block, index: number, question: ExcerptQuestion): Statement[] {
  if (block.kind === 'code') return [];
  const opening = block.kind === 'row' || index > 1 ? 0 : 0.25 - 0.15 * index;
  return splitSentences(block).map((text, sentence) => ({
    block,
    at: index + sentence / 1000,
    text,
    value: worthOf(text, question) + opening / (1 + sentence),
  }));
}

/** A paragraph is split into sentences; an item or a row is one statement. */
function splitSentences({ kind, text }: Block): readonly string[] {
  if (kind !== 'text') return [text];
  const parts = text.split(/(?<=[.!?][)"'”]?)\s+(?=[\p{Lu}`*_"'([])/u);
  const sentences: string[] = [];
  for (const part of parts) {
    // “e.g. This” and “v1. Next” are no ends.
    const before = sentences.at(-1);
    if (before !== undefined && /(?:\b(?:e\.g|i\.e|etc|vs|cf|no)\.|\b\w\.)$/i.test(before)) {
      sentences[sentences.length - 1] = `${before} ${part}`;
    } else sentences.push(part);
  }
  return sentences;
}

/** Returns the share of the question that a statement speaks of, from 0 to about 1. */
function worthOf(text: string, { asked, names }: ExcerptQuestion): number {
  const { words, names: written } = toWords(text);
  const met = words.flatMap(
    ({ stem, plain }) => asked.standsFor.get(stem) ?? asked.standsFor.get(plain) ?? [],
  );
  return shareMet(met, asked) + (written.some((name) => names.has(name)) ? 0.3 : 0);
}

/** The sample with most of what was asked for; of equals, the one after the best statement. */
function chooseCode(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  { after, most }: Record<'after' | 'most', number>,
): Statement | undefined {
  const samples = blocks.flatMap((block, at) => {
    if (block.kind !== 'code') return [];
    const isNext = at > after && at - after < 3 ? 0.3 : 0;
    const text = fence({ ...block, text: cutCode(block.text, most) });
    return [{ block, at, text, value: worthOf(block.text, question) + isNext }];
  });
  return samples.sort((a, b) => b.value - a.value)[0];
}

function cutCode(code: string, most: number): string {
  if (code.length <= most) return code;
  const end = code.lastIndexOf('\n', most);
  return `${code.slice(0, end > 0 ? end : most)}\n…`;
}

/** Returns code within a fence that is longer than any in it. */
function fence({ text, language = '' }: Block): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}${language}\n${text}\n${mark}`;
}

function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf(' ', most - 1);
  return `${text.slice(0, end > most / 2 ? end : most - 1)}…`;
}

const isListed = ({ kind }: Block) => kind === 'item' || kind === 'row';

/** Sentences of one paragraph stay one paragraph; items become a list. */
function joinPieces(pieces: readonly Piece[]): string {
  return pieces
    .map(({ block, text }, index) => {
      const piece = isListed(block) ? `- ${text.replaceAll('\n', '\n  ')}` : text;
      return separatorOf(pieces[index - 1]?.block, block) + piece;
    })
    .join('');
}

function separatorOf(before: Block | undefined, block: Block): string {
  if (before === undefined) return '';
  if (before === block) return ' ';
  return before.kind === block.kind && isListed(block) ? '\n' : '\n\n';
}
