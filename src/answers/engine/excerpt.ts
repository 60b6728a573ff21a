import type { Block } from '../readers/section.ts';
import type { ReadWords } from '../text/words.ts';
import type { Asked } from './question/asked.ts';

/** What is told of a passage. */
export interface Excerpt {
  /** Markdown. */
  readonly text: string;
  /** The lines that it was taken from. */
  readonly line: number;
  readonly endLine: number;
}

/** A sentence, an item, a row or code, with how well it answers. */
interface Statement {
  readonly block: Block;
  readonly at: number;
  readonly text: string;
  readonly value: number;
}

/** What an excerpt is to answer. */
export interface ExcerptQuestion {
  readonly asked: Asked;
  /** Names in one piece that words of the question make. */
  readonly names: ReadonlyMap<string, number>;
  readonly readWords: ReadWords;
}

/** How much may be told. */
export interface ExcerptLimits {
  /** The sentences, items and rows. */
  readonly statements: number;
  /** The characters of text. */
  readonly text: number;
  /** The characters of code; none is told where it is 0. */
  readonly code: number;
}

/** Takes out of a passage what answers a question: its best statements in their order, and a sample of code. */
export function toExcerpt(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  limits: ExcerptLimits,
): Excerpt | undefined {
  const told = chooseStatements(blocks, question, limits);
  const code =
    limits.code > 0 ? chooseCode(blocks, question, { told, most: limits.code }) : undefined;
  const pieces = inReadingOrder(told, code);
  const [first] = pieces;
  if (first === undefined) return undefined;
  return {
    text: joinStatements(pieces),
    line: Math.min(...pieces.map(({ block }) => block.line)),
    endLine: Math.max(...pieces.map(({ block }) => block.endLine)),
  };
}

/** As in the file, but an answer does not begin with code where there are words for it. */
function inReadingOrder(told: readonly Statement[], code: Statement | undefined) {
  const words = told.toSorted((a, b) => a.at - b.at);
  if (code === undefined) return words;
  const before = words.filter(({ at }) => at < code.at).length;
  return words.toSpliced(Math.max(1, before), 0, code);
}

function chooseStatements(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  limits: ExcerptLimits,
): readonly Statement[] {
  const statements = blocks
    .flatMap((block, index) => toStatements(block, index, question))
    // A row that says nothing of what was asked, such as the first of a table, tells nothing by itself.
    .filter(({ block, value }) => block.kind !== 'row' || value > 0);
  const chosen: Statement[] = [];
  let left = limits.text;
  for (const statement of statements.toSorted((a, b) => b.value - a.value || a.at - b.at)) {
    if (left < 40 || chosen.length >= limits.statements) break;
    const text = shorten(statement.text, left);
    chosen.push({ ...statement, text });
    left -= text.length;
  }
  return chosen;
}

/** The first block of a section says what it is about, so it counts more. */
function toStatements(
  block: Block,
  index: number,
  question: ExcerptQuestion,
): readonly Statement[] {
  if (block.kind === 'code') return [];
  const isRow = block.kind === 'row';
  const opening = isRow || index > 1 ? 0 : 0.25 - 0.15 * index;
  return splitSentences(block).map((text, sentence) => ({
    block,
    at: index + sentence / 1000,
    text,
    value: worthOf(text, question) + opening / (1 + sentence),
  }));
}

/** A paragraph is parted into sentences; an item or a row is one statement. */
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

/** How much of the question a statement speaks of, from 0 to about 1. */
function worthOf(text: string, { asked, names, readWords }: ExcerptQuestion): number {
  const { words, names: written } = readWords(text);
  const fits = new Float64Array(asked.concepts.length);
  for (const { stem, plain } of words) {
    for (const { concept, factor } of asked.standsFor.get(stem) ?? asked.standsFor.get(plain) ?? [])
      fits[concept] = Math.max(fits[concept] ?? 0, factor);
  }
  const met = asked.concepts.reduce((sum, { weight }, at) => sum + weight * (fits[at] ?? 0), 0);
  const named = written.some((name) => names.has(name)) ? 0.3 : 0;
  return (asked.weight === 0 ? 0 : met / asked.weight) + named;
}

/** The sample with most of what was asked for; of equals, the one after the best statement. */
function chooseCode(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  { told, most }: { readonly told: readonly Statement[]; readonly most: number },
): Statement | undefined {
  const after = told.toSorted((a, b) => b.value - a.value)[0]?.at ?? 0;
  return blocks
    .map((block, index) => ({ block, index }))
    .filter(({ block }) => block.kind === 'code')
    .map(({ block, index }) => {
      const text = fence({ ...block, text: cutCode(block.text, most) });
      const isNext = index > after && index - after < 3 ? 0.3 : 0;
      return { block, at: index, text, value: worthOf(block.text, question) + isNext };
    })
    .reduce<Statement | undefined>(
      (a, b) => (a === undefined || b.value > a.value ? b : a),
      undefined,
    );
}

/** Code is cut between two lines. */
function cutCode(code: string, most: number): string {
  if (code.length <= most) return code;
  const end = code.lastIndexOf('\n', most);
  return `${code.slice(0, end > 0 ? end : most)}\n…`;
}

/** Gives code within a fence that is longer than any in it. */
export function fence({ text, language = '' }: Block): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}${language}\n${text}\n${mark}`;
}

function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf(' ', most - 1);
  return `${text.slice(0, end > most / 2 ? end : most - 1)}…`;
}

/** Sentences of one paragraph stay one paragraph; items become a list. */
function joinStatements(statements: readonly Statement[]): string {
  let text = '';
  let before: Statement | undefined;
  for (const statement of statements) {
    const isItem = statement.block.kind === 'item' || statement.block.kind === 'row';
    const piece = isItem ? `- ${indentMore(statement.text)}` : statement.text;
    text += separatorOf(before, statement) + piece;
    before = statement;
  }
  return text;
}

function separatorOf(before: Statement | undefined, { block }: Statement): string {
  if (before === undefined) return '';
  if (before.block === block) return ' ';
  return before.block.kind === block.kind && block.kind !== 'text' && block.kind !== 'code'
    ? '\n'
    : '\n\n';
}

const indentMore = (text: string) => text.replaceAll('\n', '\n  ');
