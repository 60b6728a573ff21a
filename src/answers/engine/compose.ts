import { toSlug } from '../../core/slug.ts';
import type { Answer, Citation } from '../answer.ts';

/** A source of an answer, with the text that is quoted from it. */
export type Source = Readonly<{ citation: Citation; text: string }>;

/** Maximum number of characters of an answer. */
export const maxAnswerLength = 4000;
/** Maximum number of citations of an answer. */
export const maxCitations = 5;
/** If fewer characters are left, nothing of a source is quoted. */
const leastExcerpt = 60;

/** Writes an answer: the leading sources, one for each part of the question, the further ones, and the citations. */
export function composeAnswer(leading: readonly Source[], further: readonly Source[]): Answer {
  const citations = [...leading, ...further].map(({ citation }) => citation);
  const ending = printSources(citations);
  let left = maxAnswerLength - ending.length - 40;
  let isCut = false;
  const take = (text: string, separator: string): string => {
    const fits = text.length + separator.length <= left;
    const taken = fits ? text : cutAtWord(text, left - separator.length);
    if (!fits) isCut = true;
    left -= taken === '' ? 0 : taken.length + separator.length;
    return taken;
  };
  const lead = leading.map(({ citation: { heading }, text }) => {
    const isTitled = leading.length > 1 && heading !== '';
    return take(isTitled ? `**${escapeMarks(heading)}**\n\n${text}` : text, '\n\n');
  });
  const more = further.map((source) => take(toBullet(source), '\n')).filter((one) => one !== '');
  const moreText = more.length === 0 ? '' : `More on this:\n\n${more.join('\n')}`;
  return {
    text: [...lead, moreText, ending].filter((part) => part !== '').join('\n\n'),
    citations,
    abstained: false,
    finishReason: isCut ? 'length' : 'stop',
  };
}

/** Sorts citations by their scores; those with the same score stay in their order. */
export function bestFirst(citations: readonly Citation[]): readonly Citation[] {
  return citations.toSorted((a, b) => b.score - a.score);
}

/** Returns a citation as it is written in an answer: `path#heading:line`, without `#` if there is no heading. */
export function printCitation({ path, heading, line }: Citation): string {
  const slug = toSlug(heading);
  return slug === '' ? `${path}:${line}` : `${path}#${slug}:${line}`;
}

/** Returns the end of an answer: the list of its citations. */
export function printSources(citations: readonly Citation[]): string {
  return `Sources:\n\n${printList(citations)}\n`;
}

/** Writes that the docs do not answer the question, and names the nearest sections. */
export function composeAbstention(nearest: readonly Citation[]): Answer {
  const near = nearest.length === 0 ? '' : ` The nearest sections are:\n\n${printList(nearest)}`;
  return {
    text: `The documentation does not seem to answer this.${near}\n`,
    citations: [],
    abstained: true,
    finishReason: 'stop',
  };
}

function printList(citations: readonly Citation[]): string {
  return citations.map((citation) => `- \`${printCitation(citation)}\``).join('\n');
}

function toBullet({ citation, text }: Source): string {
  return `- **${escapeMarks(citation.heading || citation.path)}**: ${inOneItem(text)}`;
}

/** Escapes the marks of Markdown in a plain text. Within a word `_` is none. */
function escapeMarks(text: string): string {
  return text.replaceAll(/[\\`*[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&');
}

/** Text in one line; code keeps its lines, indented as far as the item. */
function inOneItem(text: string): string {
  return splitAtFences(text)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('```') ? part.replaceAll('\n', '\n  ') : inOneLine(part)))
    .join('\n\n  ');
}

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

/** Cuts a text at a word, and closes code that is cut. Returns '' if `most` is too little. */
export function cutAtWord(text: string, most: number): string {
  if (most < leastExcerpt) return '';
  const end = text.lastIndexOf(' ', most - 6);
  const cut = text.slice(0, end > most / 2 ? end : most - 6);
  const fences = [...cut.matchAll(/^( *)(`{3,})/gm)];
  const [, indent = '', ticks = ''] = fences.at(-1) ?? [];
  return fences.length % 2 === 1 ? `${cut}\n${indent}${ticks}` : `${cut}…`;
}
