import type { Answer, Citation } from '../answer.ts';
import { printCitation } from './citation.ts';
import type { Excerpt } from './excerpt.ts';

/** A source of an answer, with what is told of it. */
export interface Source {
  readonly citation: Citation;
  readonly excerpt: Excerpt;
}

/** What an answer is written from. */
export interface Draft {
  /** The sources that answer, one for each part of the question. */
  readonly leading: readonly Source[];
  /** Others that say more. */
  readonly further: readonly Source[];
}

/** The most characters of an answer. */
export const maxAnswerLength = 4000;

/** Below this nothing of a source is told but its place. */
const leastExcerpt = 60;

/** Writes an answer for a reader; its citations stand at its end, best first. */
export function composeAnswer({ leading, further }: Draft): Answer {
  const sources = [...leading, ...further];
  const citations = sources.map(({ citation }) => citation);
  const ending = printSources(citations);
  const budget = createBudget(maxAnswerLength - ending.length - 40);
  const lead = leading.map((source) => budget.take(titled(source, leading.length > 1), '\n\n'));
  const more = further.map((source) => budget.take(toBullet(source), '\n'));
  const moreText = more.filter((bullet) => bullet !== '').join('\n');
  const parts = [...lead, moreText === '' ? '' : `More on this:\n\n${moreText}`, ending];
  return {
    text: parts.filter((part) => part !== '').join('\n\n'),
    citations,
    abstained: false,
    finishReason: budget.isCut ? 'length' : 'stop',
  };
}

/** Puts what speaks most for an answer first; what speaks as much stays in its order. */
export function bestFirst(citations: readonly Citation[]): readonly Citation[] {
  return citations.toSorted((a, b) => b.score - a.score);
}

/** Gives the end of an answer: its citations, best first, as a list. */
export function printSources(citations: readonly Citation[]): string {
  return `Sources:\n\n${citations.map((one) => `- \`${printCitation(one)}\``).join('\n')}\n`;
}

/** Writes that the question is not answered, and what comes nearest. */
export function composeAbstention(nearest: readonly Citation[]): Answer {
  const places = nearest.map((citation) => `- \`${printCitation(citation)}\``).join('\n');
  const near = places === '' ? '' : ` The nearest sections are:\n\n${places}`;
  return {
    text: `The documentation does not seem to answer this.${near}\n`,
    citations: [],
    abstained: true,
    finishReason: 'stop',
  };
}

function titled({ citation, excerpt }: Source, isOneOfSeveral: boolean): string {
  return isOneOfSeveral && citation.heading !== ''
    ? `**${escapeMarks(citation.heading)}**\n\n${excerpt.text}`
    : excerpt.text;
}

function toBullet({ citation, excerpt }: Source): string {
  const title = escapeMarks(citation.heading === '' ? citation.path : citation.heading);
  return `- **${title}**: ${inOneItem(excerpt.text)}`;
}

/** Keeps characters of a plain text from becoming marks of Markdown. Within a word `_` is none. */
function escapeMarks(text: string): string {
  return text.replaceAll(/[\\`*[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&');
}

/** Text in one line; code keeps its lines, set in as far as the item. */
function inOneItem(text: string): string {
  return splitAtFences(text)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('```') ? part.replaceAll('\n', '\n  ') : inOneLine(part)))
    .join('\n\n  ');
}

/** Splits a text into its fenced blocks of code and the parts between them. */
function splitAtFences(text: string): readonly string[] {
  const parts: string[][] = [[]];
  let isCode = false;
  for (const line of text.split('\n')) {
    const opens: boolean = !isCode && line.startsWith('```');
    const closes: boolean = isCode && /^`{3,}$/.test(line);
    if (opens) parts.push([]);
    parts.at(-1)?.push(line);
    if (closes) parts.push([]);
    isCode = opens || (isCode && !closes);
  }
  return parts.map((lines) => lines.join('\n'));
}

function inOneLine(text: string): string {
  return text.replace(/^- /, '').replaceAll('\n- ', ' · ').replaceAll(/\s+/g, ' ');
}

/** Gives out the characters that are left; what does not fit is left out. */
function createBudget(most: number) {
  let left = most;
  let isCut = false;
  return {
    get isCut() {
      return isCut;
    },
    take(text: string, separator: string): string {
      const fits = text.length + separator.length <= left;
      const given = fits ? text : cutAtWord(text, left - separator.length);
      if (!fits) isCut = true;
      left -= given === '' ? 0 : given.length + separator.length;
      return given;
    },
  };
}

/** Gives a text of at most `most` characters, empty where that is too few. Cut text ends with a sign; code that is cut is closed. */
export function cutAtWord(text: string, most: number): string {
  if (most < leastExcerpt) return '';
  const end = text.lastIndexOf(' ', most - 6);
  const cut = text.slice(0, end > most / 2 ? end : most - 6);
  const fences = [...cut.matchAll(/^( *)(`{3,})/gm)];
  const [, indent = '', ticks = ''] = fences.at(-1) ?? [];
  return fences.length % 2 === 1 ? `${cut}\n${indent}${ticks}` : `${cut}…`;
}
