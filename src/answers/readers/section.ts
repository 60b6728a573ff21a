/** A piece of a section that can be told on its own: a paragraph, a list item, a row of a table, code. */
export interface Block {
  readonly kind: 'text' | 'item' | 'row' | 'code';
  /** As Markdown for a reader; code without its fence. */
  readonly text: string;
  /** The first and the last line in the file, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** What code is written in, where the file says so. */
  readonly language?: string;
}

/** What stands under a heading, up to the next one. */
export interface Section {
  /** As it is written; empty before the first heading of a file. */
  readonly heading: string;
  /** The headings above it, outermost first. */
  readonly trail: readonly string[];
  /** The line of the heading and the last line of the section, from 1. */
  readonly line: number;
  readonly endLine: number;
  readonly blocks: readonly Block[];
}

/** A file, taken apart. */
export interface ReadFile {
  /** What the file calls itself; empty where it does not. */
  readonly title: string;
  readonly sections: readonly Section[];
}

/** Takes a file apart. Never throws: what cannot be parsed is read as plain text or not at all. */
export type Reader = (text: string) => ReadFile;

interface OpenSection {
  readonly heading: string;
  readonly trail: readonly string[];
  readonly line: number;
  readonly blocks: Block[];
}

/** Collects sections from headings and blocks that arrive in the order of the file. */
export class SectionBuilder {
  readonly #sections: Section[] = [];
  readonly #above: { readonly level: number; readonly heading: string }[] = [];
  #open: OpenSection = { heading: '', trail: [], line: 1, blocks: [] };

  /** Ends the section that is open and begins one with this heading. */
  startSection(heading: { readonly level: number; readonly text: string; readonly line: number }) {
    this.#close(heading.line - 1);
    while ((this.#above.at(-1)?.level ?? 0) >= heading.level) this.#above.pop();
    this.#open = {
      heading: heading.text,
      trail: this.#above.map((one) => one.heading),
      line: heading.line,
      blocks: [],
    };
    this.#above.push({ level: heading.level, heading: heading.text });
  }

  /** Adds to the section that is open; what is blank is left out. */
  add(block: Block): void {
    if (block.text.trim() !== '') this.#open.blocks.push(block);
  }

  /** Gives all sections that have a heading or something in them. */
  finish(lastLine: number): readonly Section[] {
    this.#close(lastLine);
    return this.#sections;
  }

  #close(endLine: number): void {
    const { heading, blocks } = this.#open;
    if (heading === '' && blocks.length === 0) return;
    this.#sections.push({ ...this.#open, endLine: Math.max(this.#open.line, endLine) });
  }
}

/** Counts the lines of a text. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
