import { type Token, Tokenizer } from 'parse5';
import type { Margin } from '../text-writer.ts';

interface OpenList {
  next: number;
  readonly step: number;
  readonly isOrdered: boolean;
}

export class Lists {
  readonly #open: OpenList[] = [];
  readonly #itemCounts: readonly number[];
  #started = 0;

  constructor(html: string) {
    // Only a list that counts down needs the number of its items before they are read.
    this.#itemCounts = /\sreversed/i.test(html) ? countItems(html) : [];
  }

  get isInList(): boolean {
    return this.#open.length > 0;
  }

  open(token: Token.TagToken): void {
    const isReversed = token.attrs.some(({ name }) => name === 'reversed');
    const first = isReversed ? (this.#itemCounts[this.#started] ?? 1) : 1;
    this.#started += 1;
    this.#open.push({
      isOrdered: token.tagName === 'ol',
      next: toNumber(attributeOf(token, 'start')) ?? first,
      step: isReversed ? -1 : 1,
    });
  }

  close(): void {
    this.#open.pop();
  }

  /** Returns the prefixes of the next item's lines: a bullet or its number, then spaces. */
  nextMargin(item: Token.TagToken): Margin {
    const list = this.#open.at(-1);
    if (list === undefined || !list.isOrdered) return { first: '• ', rest: '  ' };
    const number = toNumber(attributeOf(item, 'value')) ?? list.next;
    list.next = number + list.step;
    const first = `${number}. `;
    return { first, rest: ' '.repeat(first.length) };
  }
}

function countItems(html: string): readonly number[] {
  const counts: number[] = [];
  const open: number[] = [];
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: ({ tagName }) => {
        const list = open.at(-1);
        if (isList(tagName)) open.push(counts.push(0) - 1);
        else if (tagName === 'li' && list !== undefined) counts[list] = (counts[list] ?? 0) + 1;
      },
      onEndTag: ({ tagName }) => {
        if (isList(tagName)) open.pop();
      },
      onCharacter() {},
      onWhitespaceCharacter() {},
      ...ignored,
    },
  );
  tokenizer.write(html, true);
  return counts;
}

const isList = (name: string): boolean => name === 'ul' || name === 'ol';

export const ignored = {
  onNullCharacter(): void {},
  onComment(): void {},
  onDoctype(): void {},
  onEof(): void {},
  onParseError: null,
};

export const attributeOf = ({ attrs }: Token.TagToken, name: string): string =>
  attrs.find((attribute) => attribute.name === name)?.value ?? '';

const toNumber = (text: string): number | null => (/^-?\d{1,6}$/.test(text) ? Number(text) : null);
