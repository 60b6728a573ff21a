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
import { findUnknownPlace } from './places.ts';
import { findEnd, keptTail } from './text-end.ts';

/** What a model’s words are held against. */
export interface CitedTextOptions {
  /** The passages that it was given, in the order of their numbers, from 1. */
  readonly given: readonly GivenPassage[];
  /** All that it was given to read: what it leads to has to stand in there. */
  readonly known: string;
  /** What must never be told. */
  readonly secret: string | undefined;
  /** False for a passage that is not in the index any more. */
  isCurrent(passage: GivenPassage): Promise<boolean>;
  /** Told of the text that may be shown. */
  onText(piece: string): void;
}

/**
 * The words of a model on their way to a reader. They are held back until a citation follows that is
 * verified, so that nothing has to be taken back; what no citation follows is not shown.
 */
export interface CitedText {
  /** What was shown. */
  readonly shown: string;
  /** The verified citations in it, in the order in which they first stand there. */
  readonly citations: readonly Citation[];
  /**
   * How it stands: `full` where no more fits, `over` where the model has said all that counts,
   * `abstained` where it has said that the passages do not answer.
   */
  readonly state: 'open' | 'full' | 'over' | 'abstained';
  /**
   * Takes more of the words; to be awaited before the next ones.
   *
   * @throws ModelFailure `model_miscited` for what is not there, `model_uncited` for too much without a citation
   */
  add(piece: string): Promise<void>;
  /**
   * Says that this was all, and shows what belongs to the last citation.
   *
   * @throws ModelFailure as `add`; `model_failed` where there were no words
   */
  finish(): Promise<void>;
}

/** The most characters without a citation. */
const maxHeld = 3000;

/** Creates the way of one answer. */
export function createCitedText(options: CitedTextOptions): CitedText {
  const said = { text: '', from: 0 };
  const places = options.given.map(({ citation }) => printCitation(citation));
  const toStretches = createToStretches(places);
  const page = createPage({ ...options, toStretches });
  const release = async (extent: Extent) => {
    const ready = upToCitation(toStretches(said.text, said.from, extent), extent);
    for (const part of splitAtCitations(ready)) {
      if (!(await page.show(part))) return;
      said.from += part.reduce((length, { text }) => length + text.length, 0);
    }
  };
  const end = async () => {
    await release('whole');
    if (page.state !== 'open') return;
    const tail = keptTail(said.text, said.from, toStretches);
    if (page.citations.length > 0) page.showTail(tail);
  };
  return {
    get shown() {
      return page.shown;
    },
    get citations() {
      return page.citations;
    },
    get state() {
      return page.state;
    },
    add: async (piece) => {
      // What moves the cursor of a terminal is no answer.
      said.text += piece.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
      const stop = findEnd(toStretches(said.text, said.from, 'part'));
      if (stop !== undefined) {
        said.text = said.text.slice(0, said.from + stop.at);
        await end();
        page.close(stop.kind === 'abstained' && page.shown === '' ? 'abstained' : 'over');
      } else await release('part');
      if (page.state === 'open' && said.text.length - said.from > maxHeld) throw uncited();
    },
    finish: async () => {
      if (page.state === 'open') await end();
      if (page.state === 'abstained' || page.shown !== '') return;
      throw said.text.trim() === ''
        ? new ModelFailure('model_failed', 'The language model said nothing.')
        : uncited();
    },
  };
}

/** What the reader has, and whether more fits. */
function createPage(options: CitedTextOptions & { readonly toStretches: ToStretches }) {
  const { given, known, secret, isCurrent, onText, toStretches } = options;
  let shown = '';
  let citations: readonly Citation[] = [];
  let state: CitedText['state'] = 'open';
  const fits = (piece: string, cited: readonly Citation[]) =>
    cited.length <= maxCitations &&
    shown.length + piece.length + 2 + printSources(cited).length <= maxAnswerLength;
  const verify = async (number: number): Promise<Citation> => {
    const passage = given[number - 1];
    if (passage === undefined || !(await isCurrent(passage))) throw miscited();
    return passage.citation;
  };
  const put = (piece: string, cited: readonly Citation[]): boolean => {
    if (secret !== undefined && piece.includes(secret)) throw secretTold();
    if (!fits(piece, cited)) {
      state = 'full';
      return false;
    }
    shown += piece;
    citations = cited;
    if (piece !== '') onText(piece);
    return true;
  };
  return {
    get shown() {
      return shown;
    },
    get citations() {
      return citations;
    },
    get state() {
      return state;
    },
    close: (how: 'over' | 'abstained') => {
      if (state === 'open') state = how;
    },
    /** Shows words and the citation that they end in; false where that does not fit. */
    show: async (part: readonly Stretch[]): Promise<boolean> => {
      const before = part.filter(({ kind }) => kind !== 'marker');
      if (findUnknownPlace(before, known) !== undefined) throw miscited();
      const numbers = part.flatMap((one) => (one.kind === 'marker' ? one.numbers : []));
      const passages = await Promise.all(numbers.map(verify));
      const words = before.map(({ text }) => text).join('');
      const piece = joinCitation(shown === '' ? words.trimStart() : words, passages);
      return put(piece, [...new Set([...citations, ...passages])]);
    },
    showTail: (tail: string) => {
      if (findUnknownPlace(toStretches(tail, 0, 'whole'), known) !== undefined) throw miscited();
      put(tail, citations);
    },
  };
}

/** Gives parts that end in one citation each. */
function splitAtCitations(stretches: readonly Stretch[]): readonly (readonly Stretch[])[] {
  const parts: Stretch[][] = [];
  let part: Stretch[] = [];
  for (const stretch of stretches) {
    part.push(stretch);
    if (stretch.kind !== 'marker') continue;
    parts.push(part);
    part = [];
  }
  return parts;
}

/** The places stand where the numbers stood, so that what was shown is true by itself if nothing more comes. */
function joinCitation(words: string, citations: readonly Citation[]): string {
  const places = citations.map((one) => `\`${printCitation(one)}\``).join(', ');
  const before = trimEndOf(words, ' \t');
  return `${before}${before === '' || before.endsWith('\n') ? '' : ' '}(${places})`;
}

function uncited(): ModelFailure {
  return new ModelFailure(
    'model_uncited',
    'The language model did not say what its words rest on.',
  );
}

function miscited(): ModelFailure {
  return new ModelFailure('model_miscited', 'The language model cited what is not there.');
}

function secretTold(): ModelFailure {
  return new ModelFailure('model_failed', 'The language model said what must not be told.');
}
