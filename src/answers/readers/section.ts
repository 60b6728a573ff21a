/** A piece of a section that can be quoted on its own: a paragraph, a list item, a row of a table, code. */
export interface Block {
  readonly kind: 'text' | 'item' | 'row' | 'code';
  /** As Markdown for a reader; code without its fence. */
  readonly text: string;
  /** The first and the last line in the file, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** The language of code, if the file names it. */
  readonly language?: string;
}

/** A heading and the blocks up to the next one. */
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

/** The title of a file, empty if it has none, and its sections. */
export type ReadFile = Readonly<{ title: string; sections: readonly Section[] }>;

/** Collects sections from headings and blocks that arrive in the order of the file. */
export class SectionBuilder {
  readonly #sections: Section[] = [];
  readonly #above: { readonly level: number; readonly text: string }[] = [];
  #open = { heading: '', trail: [] as readonly string[], line: 1, blocks: [] as Block[] };

  startSection({ level, text, line }: { level: number; text: string; line: number }): void {
    this.#close(line - 1);
    while ((this.#above.at(-1)?.level ?? 0) >= level) this.#above.pop();
    this.#open = { heading: text, trail: this.#above.map((one) => one.text), line, blocks: [] };
    this.#above.push({ level, text });
  }

  add(block: Block): void {
    if (block.text.trim() !== '') this.#open.blocks.push(block);
  }

  /** Returns all sections of a text that have a heading or a block. */
  finish(title: string, text: string): ReadFile {
    this.#close(countLines(text));
    return { title, sections: this.#sections };
  }

  #close(endLine: number): void {
    const { heading, blocks } = this.#open;
    if (heading === '' && blocks.length === 0) return;
    this.#sections.push({ ...this.#open, endLine: Math.max(this.#open.line, endLine) });
  }
}

/** Counts the lines of a text. */
export function countLines(text: string): number {
  return text.split('\n').length;
}
