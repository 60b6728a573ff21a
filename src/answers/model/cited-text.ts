import { trimEndOf } from '../../core/trim-end.ts';
import type { Citation, GivenPassage } from '../answer.ts';
import { maxAnswerLength, maxCitations, printCitation, printSources } from '../engine/compose.ts';
import {
  createToStretches,
  type Extent,
  type Stretch,
  type ToStretches,
  upToCitation,
} from './markers.ts';
import { ModelFailure } from './model-failure.ts';
import { hasKnownPlacesOnly } from './places.ts';
import { abstentionMark } from './prompt.ts';

interface CitedTextOptions {
  /** The passages that the model was given, in the order of their numbers, from 1. */
  readonly given: readonly GivenPassage[];
  /** All that the model was given to read: links in its words must be in there. */
  readonly known: string;
  readonly secret: string | undefined;
  /** Returns false for a passage that is not in the index any more. */
  isCurrent(passage: GivenPassage): Promise<boolean>;
  onText(piece: string): void;
}

/** Maximum number of characters without a citation. */
const maxHeld = 3000;

/** Words of a model, held back until a verified citation follows, so that nothing has to be taken back. */
export class CitedText {
  shown = '';
  /** The verified citations in `shown`, in the order of their first use. */
  citations: readonly Citation[] = [];
  /** `full` if no more fits, `over` if the model has said all that counts, `abstained` if it did not answer. */
  state: 'open' | 'full' | 'over' | 'abstained' = 'open';
  readonly #options: CitedTextOptions;
  readonly #toStretches: ToStretches;
  #said = '';
  /** Up to where `#said` was shown. */
  #from = 0;

  constructor(options: CitedTextOptions) {
    this.#options = options;
    const places = options.given.map(({ citation }) => printCitation(citation));
    this.#toStretches = createToStretches(places);
  }

  /** Takes more of the words, one call at a time. @throws ModelFailure `model_miscited`, `model_uncited` */
  async add(piece: string): Promise<void> {
    // What moves the cursor of a terminal is no answer.
    this.#said += piece.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
    const end = findEnd(this.#toStretches(this.#said, this.#from, 'part'));
    if (end === undefined) await this.#release('part');
    else {
      this.#said = this.#said.slice(0, this.#from + end.at);
      await this.#end();
      const isAbstention = end.kind === 'abstained' && this.shown === '';
      if (this.state === 'open') this.state = isAbstention ? 'abstained' : 'over';
    }
    if (this.state === 'open' && this.#said.length - this.#from > maxHeld) throw uncited();
  }

  /** Shows what belongs to the last citation. @throws ModelFailure as `add`; `model_failed` if there were no words */
  async finish(): Promise<void> {
    if (this.state === 'open') await this.#end();
    if (this.state === 'abstained' || this.shown !== '') return;
    throw this.#said.trim() === ''
      ? new ModelFailure('model_failed', 'The language model said nothing.')
      : uncited();
  }

  async #end(): Promise<void> {
    await this.#release('whole');
    if (this.state !== 'open' || this.citations.length === 0) return;
    const tail = keptTail(this.#said, this.#from, this.#toStretches);
    this.#refuseUnknown(this.#toStretches(tail, 0, 'whole'));
    this.#put(tail, this.citations);
  }

  /** Shows the words up to the last citation that is certain, each citation with the words before it. */
  async #release(extent: Extent): Promise<void> {
    const ready = upToCitation(this.#toStretches(this.#said, this.#from, extent), extent);
    let before: Stretch[] = [];
    for (const stretch of ready) {
      if (stretch.kind !== 'marker') before.push(stretch);
      else {
        if (!(await this.#show(before, stretch.numbers))) return;
        this.#from += [...before, stretch].reduce((length, { text }) => length + text.length, 0);
        before = [];
      }
    }
  }

  /** Shows words and the passages that they cite; returns whether they fit. */
  async #show(before: readonly Stretch[], numbers: readonly number[]): Promise<boolean> {
    this.#refuseUnknown(before);
    const passages = await Promise.all(numbers.map((number) => this.#verify(number)));
    const words = before.map(({ text }) => text).join('');
    const piece = joinCitation(this.shown === '' ? words.trimStart() : words, passages);
    return this.#put(piece, [...new Set([...this.citations, ...passages])]);
  }

  #refuseUnknown(stretches: readonly Stretch[]): void {
    if (!hasKnownPlacesOnly(stretches, this.#options.known)) throw miscited();
  }

  async #verify(number: number): Promise<Citation> {
    const passage = this.#options.given[number - 1];
    if (passage === undefined || !(await this.#options.isCurrent(passage))) throw miscited();
    return passage.citation;
  }

  #put(piece: string, cited: readonly Citation[]): boolean {
    const { secret, onText } = this.#options;
    if (secret !== undefined && piece.includes(secret)) {
      throw new ModelFailure('model_failed', 'The language model said what must not be told.');
    }
    const length = this.shown.length + piece.length + 2 + printSources(cited).length;
    if (cited.length > maxCitations || length > maxAnswerLength) {
      this.state = 'full';
      return false;
    }
    this.shown += piece;
    this.citations = cited;
    if (piece !== '') onText(piece);
    return true;
  }
}

/** Puts the places where the numbers were, so that the text is true by itself if nothing more comes. */
function joinCitation(words: string, citations: readonly Citation[]): string {
  const places = citations.map((one) => `\`${printCitation(one)}\``).join(', ');
  const before = trimEndOf(words, ' \t');
  return `${before}${before === '' || before.endsWith('\n') ? '' : ' '}(${places})`;
}

const uncited = () =>
  new ModelFailure('model_uncited', 'The language model did not say what its words rest on.');
const miscited = () =>
  new ModelFailure('model_miscited', 'The language model cited what is not there.');

/** The heading of a list of sources: Perch writes that list, from what was verified. */
const ownSources = /(?<![^\n])[#*_ \t]*(?:sources|references|citations)[:*_ \t]*\n/i;

/** Finds where a model abstains, or begins a list of sources; `at` counts from the first stretch. */
function findEnd(stretches: readonly Stretch[]) {
  let at = 0;
  for (const { kind, text } of stretches) {
    if (kind === 'words') {
      const mark = text.indexOf(abstentionMark);
      if (mark >= 0) return { at: at + mark, kind: 'abstained' };
      const sources = ownSources.exec(text);
      if (sources !== null) return { at: at + sources.index, kind: 'sources' };
    }
    at += text.length;
  }
  return undefined;
}

/** The end of a sentence or a row after a citation; a gap with the end of a line; items or rows. */
const closing = /(?:[.,;:!?…)*_"'’”\]]| \|)*/y;
const gap = /\s*\n/y;
const list = /(?:[ \t]*(?:[-*+]|\d+[.)]|\|)[^\n]*(?:\n|$))+/y;

/** Returns what belongs to the citation before `from`: the end of its sentence, code, and a list after a colon. */
function keptTail(text: string, from: number, toStretches: ToStretches): string {
  let end = endOf(closing, text, from);
  const next = () => attachedEnd(text, end, toStretches);
  for (let more = next(); more > end; more = next()) end = more;
  return text.slice(from, end).trimEnd();
}

function attachedEnd(text: string, at: number, toStretches: ToStretches): number {
  const start = endOf(gap, text, at);
  if (start === at) return at;
  const [next] = toStretches(text, start, 'whole');
  if (next?.kind === 'block') return start + next.text.length;
  if (!text.slice(0, at).endsWith(':')) return at;
  const end = endOf(list, text, start);
  return end === start ? at : end;
}

/** Returns where a form ends that begins at a place; the place itself if it does not begin there. */
function endOf(form: RegExp, text: string, at: number): number {
  form.lastIndex = at;
  const [found = ''] = form.exec(text) ?? [];
  return at + found.length;
}
