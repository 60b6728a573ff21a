/** Work in slices that do not block the event loop (docs/decisions/0062-long-reads-in-slices.md). */
export interface Sliced {
  /** Waits for the next turn if the slice has taken long. Default: the work is done in one piece. */
  readonly endSlice?: (() => Promise<void>) | undefined;
}

/** Length in milliseconds after which a slice ends. */
const sliceMs = 20;

export type Slices = ReturnType<typeof createSlices>;

/** Creates the slices of one piece of work, which begins now. `takeTurn` waits until it may continue. */
export function createSlices(takeTurn: () => Promise<unknown>) {
  let beginMs = performance.now();
  /** Begins a slice anew, after a wait that was no work. */
  const beginSlice = () => {
    beginMs = performance.now();
  };
  return {
    beginSlice,
    endSlice: async (): Promise<void> => {
      if (performance.now() - beginMs < sliceMs) return;
      await takeTurn();
      beginSlice();
    },
  };
}

/** Maps rows, and ends a slice before a row if it has taken long. */
export async function mapInSlices<Row, Item>(
  rows: readonly Row[],
  map: (row: Row, index: number) => Item | Promise<Item>,
  { endSlice }: Sliced,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const [index, row] of rows.entries()) {
    await endSlice?.();
    items.push(await map(row, index));
  }
  return items;
}

/** Work in steps, between which a slice can end. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

export function* mapInSteps<In, Out>(rows: readonly In[], map: (row: In) => Out): Steps<Out[]> {
  const items: Out[] = [];
  for (const row of rows) {
    items.push(map(row));
    yield;
  }
  return items;
}

/** Takes all steps at once, and returns their result. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Takes all steps, ends a slice before one where it has taken long, and returns their result. */
export async function runInSlices<Out>(steps: Steps<Out>, { endSlice }: Sliced): Promise<Out> {
  for (;;) {
    await endSlice?.();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
