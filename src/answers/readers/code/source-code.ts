import { countLines, type ReadFile, SectionBuilder, toSuffixes } from '../section.ts';
import {
  type Comment,
  commentAbove,
  commentOfFile,
  docstringBelow,
  firstDecoration,
} from './comments.ts';
import { type Declaration, findDeclarations, type MinorDeclaration } from './declarations.ts';

/** Parses code into sections: one or more for each declaration, and one for the code around. */
export function readSourceCode(text: string, path: string): ReadFile {
  const lines = text.split('\n');
  const scan = findDeclarations(lines, path);
  const writer = new SectionWriter(lines, scan.minors);
  writer.addComment(commentOfFile(lines));
  let from = 0;
  for (let at = 1; at <= lines.length; at += 1) {
    if (at < lines.length && scan.owners[at] === scan.owners[from]) continue;
    const owner = scan.owners[from];
    if (owner !== null) writer.addRun(owner, from, at);
    from = at;
  }
  return writer.sections.finish('', text);
}

const maxLines = { block: 12, section: 48 } as const;
const minBlock = 4;
const minRestWords = 4;
const maxLineLength = 400;

class SectionWriter {
  readonly sections = new SectionBuilder();
  readonly #lines: readonly string[];
  readonly #minors: readonly MinorDeclaration[];
  readonly #begun = new Set<Declaration>();
  #nextMinor = 0;

  constructor(lines: readonly string[], minors: readonly MinorDeclaration[]) {
    this.#lines = lines;
    this.#minors = minors.toSorted((a, b) => a.at - b.at);
  }

  addComment(comment: Comment | undefined): void {
    if (comment === undefined) return;
    let line = comment.line;
    for (const paragraph of comment.text.split(/\n[ \t]*\n/)) {
      const lines = countLines(paragraph);
      const text = paragraph.replaceAll(/\s+/g, ' ').trim();
      this.sections.add({ kind: 'text', text, line: line + 1, endLine: line + lines });
      line += lines + 1;
    }
  }

  /** Adds consecutive lines of a declaration, or of the code around the declarations. */
  addRun(owner: Declaration | undefined, from: number, end: number): void {
    if (owner === undefined || this.#begun.has(owner)) this.#addRest(owner, from, end);
    else this.#addStart(owner, end);
  }

  #addStart(owner: Declaration, end: number): void {
    this.#begun.add(owner);
    const above = commentAbove(this.#lines, owner.at);
    const docstring = docstringBelow(this.#lines, owner.at);
    const split = docstring === undefined ? undefined : Math.min(docstring.line, end);
    const own = owner.isDefinition ? [owner.names] : [];
    this.#startSection(owner, owner.start, [...own, ...this.#minorsBefore(split ?? end)]);
    this.addComment(above);
    const first = firstDecoration(this.#lines, owner.at);
    this.addComment(docstring);
    if (split === undefined || docstring === undefined) this.#addCode(owner, first, end);
    else {
      this.#addCode(owner, first, split);
      this.#addCode(owner, docstring.end, end);
    }
  }

  #addRest(owner: Declaration | undefined, from: number, end: number): void {
    const defined = this.#minorsBefore(Math.min(end, from + maxLines.section));
    if (defined.length === 0 && countWords(this.#lines.slice(from, end)) < minRestWords) return;
    if (this.#begun.size > 0 || owner !== undefined) this.#startSection(owner, from, defined);
    else this.sections.define(defined.flatMap(toSuffixes));
    this.#addCode(owner, from, end);
  }

  #startSection(
    owner: Declaration | undefined,
    at: number,
    names: readonly (readonly string[])[],
  ): void {
    const level = owner === undefined ? 1 : owner.depth + 2;
    const text = owner === undefined ? '' : owner.names.slice(-2).join('.');
    this.sections.startSection({ level, text, line: at + 1 });
    this.sections.define(names.flatMap(toSuffixes));
  }

  #addCode(owner: Declaration | undefined, from: number, end: number): void {
    let start = from;
    let sectionStart = from;
    while (start < end) {
      if (start - sectionStart >= maxLines.section) {
        const defined = this.#minorsBefore(Math.min(end, start + maxLines.section));
        this.#startSection(owner, start, defined);
        sectionStart = start;
      }
      const stop = this.#endOfBlock(start, end, start === from ? 1 : minBlock);
      this.#addBlock(start, stop);
      start = stop;
    }
  }

  /** Returns the line after a block of code, which ends at an empty line or the maximum length. */
  #endOfBlock(start: number, end: number, least: number): number {
    const last = Math.min(end, start + maxLines.block);
    for (let at = start + least; at < last; at += 1) if (this.#lines[at]?.trim() === '') return at;
    return last;
  }

  #addBlock(from: number, end: number): void {
    const lines = this.#lines.slice(from, end);
    const skipped = lines.findIndex((line) => line.trim() !== '');
    if (countWords(lines) === 0) return;
    const text = lines
      .slice(skipped)
      .map((line) => line.slice(0, maxLineLength))
      .join('\n')
      .trimEnd();
    const line = from + skipped + 1;
    this.sections.add({ kind: 'code', text, line, endLine: line + countLines(text) - 1 });
  }

  /** Returns the names of the next declarations without a section that are before a line. */
  #minorsBefore(line: number): readonly (readonly string[])[] {
    const found: (readonly string[])[] = [];
    for (;;) {
      const minor = this.#minors[this.#nextMinor];
      if (minor === undefined || minor.at >= line) return found;
      found.push(minor.names);
      this.#nextMinor += 1;
    }
  }
}

function countWords(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + (line.match(/(?!end\b)\b\w{3,}/g)?.length ?? 0), 0);
}
