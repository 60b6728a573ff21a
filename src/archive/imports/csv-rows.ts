/** Row of a CSV file. Its one-based `number` differs from the line if cells contain line feeds. */
export type CsvRow =
  | { readonly kind: 'cells'; readonly cells: readonly string[]; readonly number: number }
  | { readonly kind: 'too long'; readonly number: number };

const limits = { cells: 100, characters: 2 ** 20 } as const;

/** Yields a list of rows for each chunk of a CSV file (RFC 4180). Omits empty lines. */
export async function* readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly CsvRow[], void, undefined> {
  const decoder = new TextDecoder();
  const reader = new RowReader();
  for await (const chunk of chunks) yield reader.read(decoder.decode(chunk, { stream: true }));
  yield [...reader.read(decoder.decode()), ...reader.endRow()];
}

class RowReader {
  #cells: string[] = [];
  #cell: string[] = [];
  #characters = 0;
  #number = 0;
  #isQuoted = false;
  #isAfterQuote = false;

  read(text: string): readonly CsvRow[] {
    return [...text.matchAll(/[",\n\r]|[^",\n\r]+/g)].flatMap(([part]) => this.#take(part));
  }

  endRow(): readonly CsvRow[] {
    if (this.#characters === 0) return [];
    this.#endCell();
    const isTooLong = this.#characters > limits.characters;
    const [cells, number] = [this.#cells, ++this.#number];
    this.#cells = [];
    this.#characters = 0;
    return isTooLong ? [{ kind: 'too long', number }] : [{ kind: 'cells', cells, number }];
  }

  #take(part: string): readonly CsvRow[] {
    const isSecondQuote = part === '"' && this.#isAfterQuote;
    if (part === '"') this.#isQuoted = !this.#isQuoted;
    this.#isAfterQuote = part === '"' && !this.#isQuoted;
    if (part === '"' && !isSecondQuote) return [];
    if (this.#isQuoted || !/^[,\n\r]$/.test(part)) this.#add(part);
    else if (part === ',') this.#endCell();
    else return this.endRow();
    return [];
  }

  #add(text: string): void {
    this.#characters += text.length;
    if (this.#characters <= limits.characters) this.#cell.push(text);
  }

  #endCell(): void {
    if (this.#cells.length < limits.cells) this.#cells.push(this.#cell.join(''));
    this.#cell = [];
    this.#characters += 1;
  }
}
