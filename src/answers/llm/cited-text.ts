import { trimEndOf } from '../../lib/text.ts';
import type { Citation, PromptPassage } from '../answer.ts';
import { maxAnswerLength, maxCitations, printCitation, printSources } from '../engine/compose.ts';
import { ModelFailure } from './chat-client.ts';
import {
  abstentionMarker,
  createSegmentSplitter,
  type Extent,
  type Segment,
  type SplitSegments,
  textOf,
  upToCitation,
} from './prompt.ts';

interface CitedTextOptions {
  /** Passages of the prompt. The model cites passages by number, starting at 1. */
  readonly quoted: readonly PromptPassage[];
  /** Text of the prompt. The model's text may contain only links that occur in the prompt. */
  readonly promptText: string;
  /** API key of the endpoint, if any. Text that contains it is not sent, and the answer fails. */
  readonly secret: string | undefined;
  /** Returns whether the search index still contains the passage unchanged. */
  isCurrent(passage: PromptPassage): Promise<boolean>;
  onText(piece: string): void;
}

const maxBuffered = 3000;

/** Buffer that sends text only after its citation was verified, so that none is retracted. */
export class CitedText {
  shown = '';
  /** Verified citations in the text sent so far, in the order of their first use. */
  citations: readonly Citation[] = [];
  /** `full`: at a limit. `done`: the rest is ignored. `abstained`: the model cannot answer. */
  state: 'open' | 'full' | 'done' | 'abstained' = 'open';
  readonly #options: CitedTextOptions;
  readonly #splitSegments: SplitSegments;
  #received = '';
  /** Whether the sentence with the last citation was sent; `null` before the first citation. */
  #isLastSent: boolean | null = null;
  /** Offset in `#received` up to which text was sent to the client. */
  #sentUpTo = 0;

  constructor(options: CitedTextOptions) {
    this.#options = options;
    const places = options.quoted.map(({ citation }) => printCitation(citation));
    this.#splitSegments = createSegmentSplitter(places);
  }

  /**
   * Checks the citations in the next part of the model's text, and sends the cited sentences. Await
   * each call before the next one.
   * @throws ModelFailure `model_miscited` for an invalid citation, unknown link or unknown code
   *   block; `model_uncited` for too much text without a citation
   */
  async add(piece: string): Promise<void> {
    // Control characters could move the cursor of a terminal.
    this.#received += piece.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
    const end = findStop(this.#splitSegments(this.#received, this.#sentUpTo, 'part'));
    if (end === undefined) await this.#sendReady('part');
    else {
      this.#received = this.#received.slice(0, this.#sentUpTo + end.at);
      await this.#flush();
      const isAbstention = end.kind === 'abstained' && this.shown === '';
      if (this.state === 'open') this.state = isAbstention ? 'abstained' : 'done';
    }
    if (this.state === 'open' && this.#received.length - this.#sentUpTo > maxBuffered)
      throw uncited();
  }

  /**
   * Checks and sends the remaining text. After the last citation, sends only closing punctuation,
   * code blocks and a list that a colon introduces.
   * @throws ModelFailure `model_miscited` as in `add`; `model_uncited` if no sentence can be sent;
   *   `model_failed` if there is no text
   */
  async finish(): Promise<void> {
    if (this.state === 'open') await this.#flush();
    if (this.state === 'abstained' || this.shown !== '') return;
    throw this.#received.trim() === ''
      ? new ModelFailure('model_failed', 'The language model sent no text.')
      : uncited();
  }

  async #flush(): Promise<void> {
    await this.#sendReady('whole');
    if (this.state !== 'open' || this.#isLastSent !== true) return;
    const tail = attachedTail(this.#received, this.#sentUpTo, this.#splitSegments);
    this.#check(this.#splitSegments(tail, 0, 'whole'));
    this.#send(tail, this.citations);
  }

  /** Sends the sentences up to the last complete citation. `extent`: whether text can follow. */
  async #sendReady(extent: Extent): Promise<void> {
    const ready = upToCitation(this.#splitSegments(this.#received, this.#sentUpTo, extent), extent);
    let before: Segment[] = [];
    for (const segment of ready) {
      if (segment.kind !== 'marker') before.push(segment);
      else {
        await this.#sendCited(textOf(before), segment.numbers);
        if (this.state !== 'open') return;
        this.#sentUpTo += textOf([...before, segment]).length;
        before = [];
      }
    }
  }

  /** Sends only the last sentence of `before`, with citations, unless it has unknown code spans. */
  async #sendCited(before: string, numbers: readonly number[]): Promise<void> {
    const passages = await Promise.all(numbers.map((number) => this.#verify(number)));
    const tail = this.#isLastSent === null ? '' : attachedTail(before, 0, this.#splitSegments);
    const attached = this.#isLastSent === true ? tail : '';
    const sentence = lastSentence(this.#splitSegments(before.slice(tail.length), 0, 'whole'));
    this.#check(this.#splitSegments(attached, 0, 'whole'));
    const segments = this.#splitSegments(sentence, 0, 'whole');
    this.#check(segments);
    const { promptText } = this.#options;
    this.#isLastSent = segments.every(
      (segment) => segment.kind !== 'span' || isKnownCode(segment, [promptText]),
    );
    if (!this.#isLastSent) {
      this.#send(attached, this.citations);
      return;
    }
    const start = this.shown + attached === '' ? sentence.trimStart() : sentence;
    this.#send(joinCitation(attached + start, passages), [
      ...new Set([...this.citations, ...passages]),
    ]);
  }

  /** Throws ModelFailure `model_miscited` for unknown links and code blocks. */
  #check(segments: readonly Segment[]): void {
    const { promptText, quoted } = this.#options;
    const passages = quoted.map(({ text }) => text);
    const areBlocksKnown = segments.every(
      (segment) => segment.kind !== 'block' || isKnownCode(segment, passages),
    );
    if (!areBlocksKnown || !hasKnownLinksOnly(segments, promptText)) throw miscited();
  }

  async #verify(number: number): Promise<Citation> {
    const passage = this.#options.quoted[number - 1];
    if (passage === undefined || !(await this.#options.isCurrent(passage))) throw miscited();
    return passage.citation;
  }

  /** Sends text, or ends the answer if it becomes too long or has too many citations. */
  #send(piece: string, citations: readonly Citation[]): void {
    const { secret, onText } = this.#options;
    if (secret !== undefined && piece.includes(secret)) {
      throw new ModelFailure('model_failed', 'The language model’s text contained a secret.');
    }
    const length = this.shown.length + piece.length + 2 + printSources(citations).length;
    if (citations.length > maxCitations || length > maxAnswerLength) {
      this.state = 'full';
      return;
    }
    this.shown += piece;
    this.citations = citations;
    if (piece !== '') onText(piece);
  }
}

function joinCitation(words: string, citations: readonly Citation[]): string {
  const places = citations.map((one) => `\`${printCitation(one)}\``).join(', ');
  const before = trimEndOf(words, ' \t');
  return `${before}${before === '' || before.endsWith('\n') ? '' : ' '}(${places})`;
}

const uncited = () =>
  new ModelFailure('model_uncited', 'The language model did not cite any source.');
const miscited = () =>
  new ModelFailure(
    'model_miscited',
    'The language model cited a source that does not exist or has changed, or used an unknown link or unknown code.',
  );

const ownSources = /(?<![^\n])[#*_ \t]*(?:sources|references|citations)[:*_ \t]*\n/i;

function findStop(segments: readonly Segment[]) {
  let at = 0;
  for (const { kind, text } of segments) {
    if (kind === 'words') {
      const mark = text.indexOf(abstentionMarker);
      if (mark >= 0) return { at: at + mark, kind: 'abstained' };
      const sources = ownSources.exec(text);
      if (sources !== null) return { at: at + sources.index, kind: 'sources' };
    }
    at += text.length;
  }
  return undefined;
}

const closing = /(?:[.,;:!?…)*_"'’”\]]| \|)*/y;
const gap = /\s*\n/y;
const list = /(?:[ \t]*(?:[-*+]|\d+[.)]|\|)[^\n]*(?:\n|$))+/y;

function attachedTail(text: string, from: number, splitSegments: SplitSegments): string {
  let end = matchEnd(closing, text, from);
  const next = () => attachedEnd(text, end, splitSegments);
  for (let more = next(); more > end; more = next()) end = more;
  return text.slice(from, end).trimEnd();
}

function attachedEnd(text: string, at: number, splitSegments: SplitSegments): number {
  const start = matchEnd(gap, text, at);
  if (start === at) return at;
  const [next] = splitSegments(text, start, 'whole');
  if (next?.kind === 'block') return start + next.text.length;
  if (!text.slice(0, at).endsWith(':')) return at;
  const end = matchEnd(list, text, start);
  return end === start ? at : end;
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  const [found = ''] = pattern.exec(text) ?? [];
  return at + found.length;
}

/** Matches the end of a sentence, paragraph or line, except after abbreviations such as “e.g.”. */
const ends =
  /(?<!\b(?:e\.g|i\.e|etc|vs|cf|no))[.!?]["'”’)*_]{0,4}(?:\s+(?!\p{Ll}|\s)|\s+$)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]|\||#|>))/gu;
const itemMark = /^[ \t]*(?:[-*+>]|\d{1,9}[.)]|\|)[ \t]+/;
const tableRule = /^[ \t]*\|[ \t:|-]+$/;

function lastSentence(segments: readonly Segment[]): string {
  const text = segments.map((segment) => segment.text).join('');
  const start = startOfLast(segments, text.trimEnd().length);
  const dropped = text.slice(0, start);
  const lines = dropped.split('\n');
  const mark = itemMark.exec(lines.at(-1) ?? '')?.[0] ?? '';
  return gapAfter(dropped, lines) + tableHeader(lines.slice(0, -1)) + mark + text.slice(start);
}

function tableHeader(lines: readonly string[]): string {
  const isRow = (line: string) => line.trimStart().startsWith('|');
  const first = lines.findLastIndex((line) => !isRow(line)) + 1;
  const [header = '', rule = ''] = lines.slice(first);
  return tableRule.test(rule) ? `${header}\n${rule}\n` : '';
}

function gapAfter(dropped: string, lines: readonly string[]): string {
  if (lines.length === 1) return /\s$/.test(dropped) ? ' ' : '';
  return lines.slice(0, -1).at(-1)?.trim() === '' && lines.length > 2 ? '\n\n' : '\n';
}

function startOfLast(segments: readonly Segment[], end: number): number {
  let start = 0;
  let at = 0;
  const begin = (offset: number) => {
    if (offset < end) start = offset;
  };
  for (const { kind, text } of segments) {
    if (kind === 'block') begin(at);
    if (kind === 'words')
      for (const { 0: found, index } of text.matchAll(ends)) begin(at + index + found.length);
    at += text.length;
    if (kind === 'block') begin(at);
  }
  return start;
}

function hasKnownLinksOnly(segments: readonly Segment[], known: string): boolean {
  const words = textsOf(segments, 'words');
  const inline = words + textsOf(segments, 'span');
  const targets = [...linkTargets(words), ...addresses(words), ...citedLocations(inline)];
  return targets.every((target) => includesWhole(target, known));
}

function isKnownCode({ kind, text: code }: Segment, texts: readonly string[]): boolean {
  const span = trimEndOf(code.replace(/^`+/, ''), '`');
  const lines = kind === 'block' ? code.trim().split('\n').slice(1, -1) : span.split('\n');
  return texts.some((text) => lines.every((line) => text.includes(line.trim())));
}

function textsOf(segments: readonly Segment[], kind: Segment['kind']): string {
  const texts = segments.filter((segment) => segment.kind === kind).map(({ text }) => text);
  return texts.join(' ');
}

function linkTargets(text: string): readonly string[] {
  return [...text.matchAll(/\]\(\s*<?([^)\s>]+)/g)].map(([, target = '']) =>
    withoutPunctuation(target),
  );
}

function addresses(text: string): readonly string[] {
  return text.split(/[\s<>"'`\])]+/).flatMap((word) => {
    const colon = word.indexOf('://');
    if (colon < 0 || colon + 3 === word.length) return [];
    const start = schemeStart(word, colon);
    return start === colon ? [] : [withoutPunctuation(word.slice(start))];
  });
}

function schemeStart(text: string, colon: number): number {
  let start = colon;
  while (start > 0 && /[a-z0-9+.-]/i.test(text.charAt(start - 1))) start -= 1;
  while (start < colon && !/[a-z]/i.test(text.charAt(start))) start += 1;
  return start;
}

const withoutPunctuation = (target: string) => trimEndOf(target, '.,;:!?*_');

function citedLocations(text: string): readonly string[] {
  return text.split(/[\s`()]+/).flatMap((word) => {
    const [place = ''] = /^.*:\d+/.exec(word) ?? [];
    const hash = place.indexOf('#', 1);
    return hash > 0 && hash + 1 < place.lastIndexOf(':') ? [withoutPunctuation(place)] : [];
  });
}

function includesWhole(target: string, known: string): boolean {
  for (let at = known.indexOf(target); at >= 0; at = known.indexOf(target, at + 1)) {
    if (!/\d$/.test(target) || !/\d/.test(known[at + target.length] ?? '')) return true;
  }
  return false;
}
