import { toSlug } from '../../lib/text.ts';
import type { Answer, Citation } from '../answer.ts';

export type Source = Readonly<{ citation: Citation; text: string }>;

export const maxAnswerLength = 4000;
export const maxCitations = 5;
const minExcerpt = 60;

const unsure = 'I am not sure that this answers your question.';

/** Composes an answer from the best source for each part, plus up to `maxExtras` others. */
export function composeAnswer(
  leading: readonly Source[],
  further: readonly Source[],
  maxExtras: number,
): Answer {
  const citations = [...leading, ...further].map(({ citation }) => citation);
  const ending = printSources(citations);
  // Leaves room for the heading of the further sources and the sentence of an uncertain answer.
  let left = maxAnswerLength - ending.length - unsure.length - 42;
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
    return take(isTitled ? `**${escapeMarkdown(heading)}**\n\n${text}` : text, '\n\n');
  });
  const more = further
    .slice(0, maxExtras)
    .map((source) => take(toBullet(source), '\n'))
    .filter((one) => one !== '');
  const moreText = more.length === 0 ? '' : `More on this:\n\n${more.join('\n')}`;
  return {
    text: [...lead, moreText, ending].filter((part) => part !== '').join('\n\n'),
    citations,
    abstained: false,
    finishReason: isCut ? 'length' : 'stop',
  };
}

export function bestFirst(citations: readonly Citation[]): readonly Citation[] {
  return citations.toSorted((a, b) => b.score - a.score);
}

/** Formats a citation as `path#heading:line`, or as `path:line` if the section has no heading. */
export function printCitation({ path, heading, line }: Citation): string {
  const slug = toSlug(heading);
  return slug === '' ? `${path}:${line}` : `${path}#${slug}:${line}`;
}

export function printSources(citations: readonly Citation[]): string {
  return `Sources:\n\n${printList(citations)}\n`;
}

/** Marks an answer as uncertain: adds a first sentence that states this. */
export function markUnsure(answer: Answer): Answer {
  return { ...answer, text: `${unsure}\n\n${answer.text}`, abstained: true };
}

/** Composes the message that the documents have no answer, with the most similar sections. */
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
  return citations.map((citation) => `- ${printSource(citation)}`).join('\n');
}

/** Formats a citation, such as “[Get a key – Keys](https://…) (`docs/keys.md#get-a-key:9`)”. */
function printSource(citation: Citation): string {
  const { heading, title = '', url } = citation;
  const place = `\`${printCitation(citation)}\``;
  const name = escapeMarkdown([...new Set([heading, title])].filter(Boolean).join(' – '));
  if (name === '') return place;
  return `${url === undefined ? name : `[${name}](${url})`} (${place})`;
}

function toBullet({ citation, text }: Source): string {
  return `- **${escapeMarkdown(citation.heading || citation.path)}**: ${inOneItem(text)}`;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&');
}

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

/** Truncates at a word and closes an open code block. Empty if `maxLength` is too small. */
export function cutAtWord(text: string, maxLength: number): string {
  if (maxLength < minExcerpt) return '';
  const end = text.lastIndexOf(' ', maxLength - 6);
  const cut = text.slice(0, end > maxLength / 2 ? end : maxLength - 6);
  const fences = [...cut.matchAll(/^( *)(`{3,})/gm)];
  const [, indent = '', ticks = ''] = fences.at(-1) ?? [];
  return fences.length % 2 === 1 ? `${cut}\n${indent}${ticks}` : `${cut}…`;
}
