/** Part that can be quoted by itself: a paragraph, list item, table row or code block. */
export interface Block {
  readonly kind: 'text' | 'item' | 'row' | 'code';
  /** Text of the block as Markdown. For a code block, the code without the enclosing fence. */
  readonly text: string;
  /** Number of the block's first line in the file, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  /** Programming language of a code block; absent if the file does not specify it. */
  readonly language?: string;
}

/** Heading of a document, with the blocks (such as paragraphs) up to the next heading. */
export interface Section {
  /** Heading as written in the file. It is empty for text before the first heading. */
  readonly heading: string;
  /** Headings of the sections that contain this section, outermost first. */
  readonly trail: readonly string[];
  /** Number of the section's first line in the file, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  readonly blocks: readonly Block[];
  /** Names of the program that the section defines or documents, such as `Door.open`. */
  readonly defines: readonly string[];
}

/** Title and sections of a file. The title is empty if the file has no title. */
export type ReadFile = Readonly<{ title: string; sections: readonly Section[] }>;

/** Builder that collects sections from headings and blocks in the order of the file. */
export class SectionBuilder {
  readonly #sections: Section[] = [];
  readonly #above: { readonly level: number; readonly text: string }[] = [];
  #open: Omit<Section, 'blocks' | 'defines' | 'endLine'> & { blocks: Block[]; defines: string[] } =
    { heading: '', trail: [], line: 1, blocks: [], defines: [] };

  startSection({ level, text, line }: { level: number; text: string; line: number }): void {
    this.#close(line - 1);
    while ((this.#above.at(-1)?.level ?? 0) >= level) this.#above.pop();
    const trail = this.#above.map((one) => one.text).filter((one) => one !== '');
    this.#open = { heading: text, trail, line, blocks: [], defines: [] };
    this.#above.push({ level, text });
  }

  add(block: Block): void {
    if (block.text.trim() !== '') this.#open.blocks.push(block);
  }

  define(names: readonly string[]): void {
    this.#open.defines.push(...names);
  }

  /** Ends the last section at the end of `text`. Returns the sections with a heading or block. */
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

/** Returns the names of a nested declaration: `Door.Lock.open`, `Lock.open` and `open`. */
export function toSuffixes(names: readonly string[]): readonly string[] {
  return names.map((_, at) => names.slice(at).join('.'));
}

export function countLines(text: string): number {
  return text.split('\n').length;
}

/** Formats a table row as a sentence, such as "`PORT` (default: `8080`): The port to listen on." */
export function toRowText(cells: readonly string[], headers: readonly string[] = []): string {
  const between = cells.slice(1, -1).flatMap((cell, at) => {
    const header = headers[at + 1] ?? '';
    return cell === '' ? [] : [header === '' ? cell : `${header}: ${cell}`];
  });
  const [first = ''] = cells;
  const subject = between.length === 0 ? first : `${first} (${between.join('; ')})`.trimStart();
  const last = cells.length > 1 ? (cells.at(-1) ?? '') : '';
  return [subject, last].filter((part) => part !== '').join(': ');
}
