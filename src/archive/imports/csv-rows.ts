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
  const reader = createReader();
  for await (const chunk of chunks) yield reader.read(decoder.decode(chunk, { stream: true }));
  yield [...reader.read(decoder.decode()), ...reader.end()];
}

const special = /[",\n\r]/g;

function createReader() {
  const open = createRowBuffer();
  let isQuoted = false;
  let isAfterQuote = false;
  const takeQuote = () => {
    if (!isQuoted && isAfterQuote) open.add('"');
    isQuoted = !isQuoted;
    isAfterQuote = !isQuoted;
  };
  const take = (character: string): readonly CsvRow[] => {
    if (character === '"') takeQuote();
    else {
      isAfterQuote = false;
      if (isQuoted) open.add(character);
      else if (character === ',') open.endCell();
      else return open.endRow();
    }
    return [];
  };
  return {
    read: (text: string): readonly CsvRow[] => {
      const rows: CsvRow[] = [];
      let from = 0;
      for (const { 0: character, index } of text.matchAll(special)) {
        if (index > from) {
          open.add(text.slice(from, index));
          isAfterQuote = false;
        }
        rows.push(...take(character));
        from = index + 1;
      }
      if (from < text.length) {
        open.add(text.slice(from));
        isAfterQuote = false;
      }
      return rows;
    },
    end: open.endRow,
  };
}

function createRowBuffer() {
  let cells: string[] = [];
  let cell: string[] = [];
  let characters = 0;
  let number = 0;
  const add = (text: string): void => {
    characters += text.length;
    if (characters <= limits.characters) cell.push(text);
  };
  const endCell = (): void => {
    if (cells.length < limits.cells) cells.push(cell.join(''));
    cell = [];
    characters += 1;
  };
  const endRow = (): readonly CsvRow[] => {
    if (characters === 0) return [];
    endCell();
    const isTooLong = characters > limits.characters;
    const row = { cells, number: ++number };
    cells = [];
    characters = 0;
    return isTooLong ? [{ kind: 'too long', number }] : [{ kind: 'cells', ...row }];
  };
  return { add, endCell, endRow };
}
