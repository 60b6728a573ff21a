import type { Facet } from '../model/post.ts';
import { settleRuns } from './runs.ts';
import { countCodePoints } from './text.ts';

/** A text with its facets. */
export interface RichText {
  readonly text: string;
  readonly facets: readonly Facet[];
}

/** What stands before the lines of a block: before the first of them, and before the others. */
export interface Margin {
  readonly first: string;
  readonly rest: string;
}

/** A style that is open. It begins where the next text does. */
export interface OpenStyle {
  readonly type: Facet['type'];
  start: number | null;
}

interface Line extends Margin {
  isUsed: boolean;
}

/** Deeper margins are left out, so that no line consists of margins. */
const maxMargins = 6;

/** No more than one empty line stands between two blocks. */
const maxBreaks = 2;

/** Puts a text together from its start to its end. Offsets count code points. */
export class TextWriter {
  readonly #parts: string[] = [];
  readonly #facets: Facet[] = [];
  readonly #margins: Line[] = [];
  #waiting: OpenStyle[] = [];
  #length = 0;
  #breaks = 0;
  #atBlockStart = true;
  #hiddenMargins = 0;
  /** How many margins an empty line before the next text has. */
  #blankMargins = 0;

  /** Writes text; its line feeds are line breaks, and spaces at the start of a block are dropped. */
  write(text: string): void {
    for (const [at, line] of text.split('\n').entries()) {
      if (at > 0 && !this.#atBlockStart) this.breakLine();
      this.#writeLine(this.#atBlockStart ? line.trimStart() : line);
    }
  }

  /** Writes text with all its spaces and line feeds. */
  writeVerbatim(text: string): void {
    for (const [at, line] of text.split('\n').entries()) {
      if (at > 0) this.breakLine();
      this.#writeLine(line);
    }
  }

  /** Writes one line of text as a link, mention or hashtag. */
  writeLink(text: string, facet: Pick<Facet, 'type' | 'url'>): void {
    this.#writeLine(text);
    const start = this.#length - countCodePoints(text);
    this.#facets.push({ ...facet, start, end: this.#length });
  }

  /** Ends the line. */
  breakLine(): void {
    this.#break(Math.min(this.#breaks + 1, maxBreaks));
  }

  /** Begins a block, so many line feeds below what was written. */
  breakBlock(breaks: number): void {
    this.#break(Math.max(this.#breaks, breaks));
    this.#atBlockStart = true;
  }

  /** Puts a margin before the lines that follow. */
  openMargin(margin: Margin): void {
    if (this.#margins.length >= maxMargins) this.#hiddenMargins += 1;
    else this.#margins.push({ ...margin, isUsed: false });
  }

  /** Ends the margin that was opened last. */
  closeMargin(): void {
    if (this.#hiddenMargins > 0) this.#hiddenMargins -= 1;
    else this.#margins.pop();
    this.#blankMargins = Math.min(this.#blankMargins, this.#margins.length);
  }

  /** Begins a style. */
  openStyle(type: Facet['type']): OpenStyle {
    const style: OpenStyle = { type, start: null };
    this.#waiting.push(style);
    return style;
  }

  /** Ends a style that was begun; one over no text leaves nothing. */
  closeStyle({ type, start }: OpenStyle): void {
    if (start !== null) this.#facets.push({ type, start, end: this.#length });
  }

  /** Gives what was written, without spaces at its end. */
  finish(): RichText {
    const text = this.#parts.join('').trimEnd();
    const length = countCodePoints(text);
    const clipped = this.#facets.map((facet) => ({ ...facet, end: Math.min(facet.end, length) }));
    return { text, facets: settleRuns(clipped, length) };
  }

  #break(breaks: number): void {
    if (this.#breaks === 0) this.#blankMargins = this.#margins.length;
    this.#breaks = breaks;
  }

  #writeLine(line: string): void {
    if (line === '') return;
    this.#startLine();
    for (const style of this.#waiting.splice(0)) style.start = this.#length;
    this.#push(line);
  }

  #startLine(): void {
    this.#atBlockStart = false;
    if (this.#length > 0) {
      if (this.#breaks === 0) return;
      for (let blank = 1; blank < this.#breaks; blank += 1) this.#push(`\n${this.#blankLine()}`);
      this.#push('\n');
    }
    this.#breaks = 0;
    for (const line of this.#margins) {
      this.#push(line.isUsed ? line.rest : line.first);
      line.isUsed = true;
    }
  }

  #blankLine(): string {
    const margins = this.#margins.slice(0, this.#blankMargins);
    return margins
      .map(({ rest }) => rest)
      .join('')
      .trimEnd();
  }

  #push(text: string): void {
    if (text === '') return;
    this.#parts.push(text);
    this.#length += countCodePoints(text);
  }
}
