import type { Block, ReadFile, Section } from './readers/section.ts';

/** A section, or a part of a long one: what is found and cited. */
export interface Passage {
  readonly heading: string;
  readonly trail: readonly string[];
  /** The line of the heading for the first part of a section, of its first block for the others. */
  readonly line: number;
  readonly endLine: number;
  readonly blocks: readonly Block[];
}

/** The characters from which a section is parted; code is never cut. */
const softLimit = 1800;

/** Gives the passages of a file in its order. */
export function toPassages(file: ReadFile): readonly Passage[] {
  return file.sections.flatMap(partSection);
}

function partSection(section: Section): readonly Passage[] {
  const { heading, trail } = section;
  const parts = partBlocks(section.blocks);
  return parts.map((blocks, number) => {
    const line = number === 0 ? section.line : (blocks[0]?.line ?? section.line);
    const last = blocks.reduce((end, block) => Math.max(end, block.endLine), line);
    const endLine = number === parts.length - 1 ? Math.max(last, section.endLine) : last;
    return { heading, trail, line, endLine, blocks };
  });
}

/** Blocks in the order of the file, in groups near the limit; a section without any is one group. */
function partBlocks(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const parts: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    // Code stays with the text that leads to it.
    if (size > 0 && size + block.text.length > softLimit && block.kind !== 'code') {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(block);
    size += block.text.length;
  }
  return parts;
}
