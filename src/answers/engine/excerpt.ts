import type { Block } from '../readers/section.ts';
import { toWords } from '../text/words.ts';
import type { Concepts } from './concepts.ts';
import type { FollowUpQuery } from './follow-up.ts';
import { coverageOf, type Query } from './query.ts';

type ExcerptPart = Pick<Statement, 'block' | 'text'>;

type Statement = Readonly<{ block: Block; text: string; at: number; value: number }>;

interface ExcerptQuestion extends Pick<Concepts, 'names'> {
  readonly query: Query;
  /** Query of a follow-up question, if the previous answer cited the quoted passage first. */
  readonly followUp: FollowUpQuery | undefined;
}

type ExcerptLimits = Readonly<Record<'sentences' | 'statements' | 'text' | 'code', number>>;

/** Returns the best statements and code sample with their lines; `undefined` if there are none. */
export function toExcerpt(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  limits: ExcerptLimits,
) {
  const isAsked = createFilter(blocks, question.followUp);
  const statements = blocks
    .flatMap((block, index) => toStatements(block, index, question))
    // Drops a table row that does not match the question, such as a header, because it has no
    // meaning by itself.
    .filter((one) => (one.block.kind !== 'row' || one.value > 0) && isAsked(one))
    .sort((a, b) => b.value - a.value || a.at - b.at);
  const chosen = takeFitting(statements, limits).sort((a, b) => a.at - b.at);
  const sample = chooseCode(blocks, question, {
    after: statements[0]?.at ?? 0,
    maxLength: limits.code,
  });
  const code = sample !== undefined && isAsked(sample) ? sample : undefined;
  // Code keeps its position, but does not come before the first statement.
  const before = chosen.filter(({ at }) => code !== undefined && at < code.at).length;
  const sampled = code === undefined ? chosen : chosen.toSpliced(Math.max(1, before), 0, code);
  const parts = completeIntroductions(sampled, blocks, limits.code);
  if (parts.length === 0) return undefined;
  return {
    text: joinPieces(parts),
    line: Math.min(...parts.map(({ block }) => block.line)),
    endLine: Math.max(...parts.map(({ block }) => block.endLine)),
  };
}

function completeIntroductions(
  parts: readonly ExcerptPart[],
  blocks: readonly Block[],
  maxLength: number,
): readonly ExcerptPart[] {
  const quoted = new Set(parts.map(({ block }) => block));
  const codes = parts.filter(({ block }) => block.kind === 'code');
  let left = maxLength - codes.reduce((sum, { text }) => sum + text.length, 0);
  return parts.flatMap((part, index) => {
    const next = blocks[blocks.indexOf(part.block) + 1];
    if (!isIntroduction(part) || parts[index + 1]?.block === next) return [part];
    const code = next?.kind === 'code' && !quoted.has(next) ? [toPart(next)] : [];
    const length = code[0]?.text.length ?? Number.POSITIVE_INFINITY;
    if (length > left) return [{ ...part, text: part.text.replace(/:$/, '.') }];
    left -= length;
    return [part, ...code];
  });
}

const isIntroduction = ({ block, text }: ExcerptPart) =>
  block.kind !== 'code' && text.endsWith(':');

const leastShare = 0.6;

function createFilter(blocks: readonly Block[], followUp: FollowUpQuery | undefined) {
  if (followUp === undefined) return () => true;
  const question = { query: followUp.query, names: new Map() };
  const fitOf = (text: string) =>
    followUp.isNamed ? Number(text.includes('`')) : relevanceOf(text, question);
  const texts = blocks.filter(({ kind }) => kind !== 'code').flatMap(splitSentences);
  const least = leastShare * Math.max(0, ...texts.map(fitOf));
  return ({ text }: ExcerptPart) => fitOf(text) >= least;
}

export function toMarkdown(blocks: readonly Block[]): string {
  return joinPieces(blocks.map(toPart));
}

const toPart = (block: Block): ExcerptPart => ({
  block,
  text: block.kind === 'code' ? fence(block) : block.text,
});

function takeFitting(statements: readonly Statement[], limits: ExcerptLimits): Statement[] {
  const chosen: Statement[] = [];
  let left = limits.text;
  let sentences = 0;
  for (const statement of statements) {
    if (left < 40 || chosen.length >= limits.statements) break;
    if (statement.block.kind === 'text') {
      if (sentences >= limits.sentences) continue;
      sentences += 1;
    }
    const text = shorten(statement.text, left);
    chosen.push({ ...statement, text });
    left -= text.length;
  }
  return chosen;
}

/** Splits a block into rated statements. The first blocks of a passage get a bonus. */
function toStatements(block: Block, index: number, question: ExcerptQuestion): Statement[] {
  if (block.kind === 'code') return [];
  const opening = block.kind === 'row' || index > 1 ? 0 : 0.25 - 0.15 * index;
  return splitSentences(block).map((text, sentence) => ({
    block,
    at: index + sentence / 1000,
    text,
    value: relevanceOf(text, question) + opening / (1 + sentence),
  }));
}

function splitSentences({ kind, text }: Block): readonly string[] {
  if (kind !== 'text') return [text];
  const parts = text.split(/(?<=[.!?][)"'”]?)\s+(?=[\p{Lu}`*_"'([])/u);
  const sentences: string[] = [];
  for (const part of parts) {
    // Abbreviations such as “e.g. This” do not end a sentence.
    const before = sentences.at(-1);
    if (before !== undefined && /(?:\b(?:e\.g|i\.e|etc|vs|cf|no)\.|\b\w\.)$/i.test(before)) {
      sentences[sentences.length - 1] = `${before} ${part}`;
    } else sentences.push(part);
  }
  return sentences;
}

function relevanceOf(text: string, { query, names }: Omit<ExcerptQuestion, 'followUp'>): number {
  const { words, names: written } = toWords(text);
  const matches = words.flatMap(
    ({ stem, plain }) => query.matchesByTerm.get(stem) ?? query.matchesByTerm.get(plain) ?? [],
  );
  return coverageOf(matches, query) + (written.some((name) => names.has(name)) ? 0.3 : 0);
}

/** Returns the most relevant code. A block shortly after the best statement gets a bonus. */
function chooseCode(
  blocks: readonly Block[],
  question: ExcerptQuestion,
  { after, maxLength }: Record<'after' | 'maxLength', number>,
): Statement | undefined {
  const samples = blocks.flatMap((block, at) => {
    if (block.kind !== 'code') return [];
    const isNext = at > after && at - after < 3 ? 0.3 : 0;
    const text = fence({ ...block, text: cutCode(block.text, maxLength) });
    return [{ block, at, text, value: relevanceOf(block.text, question) + isNext }];
  });
  return samples.sort((a, b) => b.value - a.value)[0];
}

function cutCode(code: string, maxLength: number): string {
  if (code.length <= maxLength) return code;
  const end = code.lastIndexOf('\n', maxLength);
  return `${code.slice(0, end > 0 ? end : maxLength)}\n…`;
}

function fence({ text, language = '' }: Block): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}${language}\n${text}\n${mark}`;
}

function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.lastIndexOf(' ', maxLength - 1);
  return `${text.slice(0, end > maxLength / 2 ? end : maxLength - 1)}…`;
}

const isListed = ({ kind }: Block) => kind === 'item' || kind === 'row';

function joinPieces(parts: readonly ExcerptPart[]): string {
  return parts
    .map(({ block, text }, index) => {
      const piece = isListed(block) ? `- ${text.replaceAll('\n', '\n  ')}` : text;
      return separatorOf(parts[index - 1]?.block, block) + piece;
    })
    .join('');
}

function separatorOf(before: Block | undefined, block: Block): string {
  if (before === undefined) return '';
  if (before === block) return ' ';
  return before.kind === block.kind && isListed(block) ? '\n' : '\n\n';
}
