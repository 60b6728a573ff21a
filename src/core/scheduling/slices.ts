/** Options of a long computation with pauses for other work (docs/decisions/0062). */
export interface Sliced {
  /** Called between steps; lets other work run if the time slice is over. Default: no pauses. */
  readonly endSlice?: (() => Promise<void>) | undefined;
}

const sliceMs = 20;

export type Slices = ReturnType<typeof createSlices>;

/** Creates callbacks: `endSlice` waits for `takeTurn` if 20 ms have passed since `beginSlice`. */
export function createSlices(takeTurn: () => Promise<unknown>) {
  let beginMs = performance.now();
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

/** Maps rows in order. Between rows, lets other work run if the time slice is over. */
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

/** Generator that yields after each step of a long computation and returns the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

export function* mapInSteps<In, Out>(rows: readonly In[], map: (row: In) => Out): Steps<Out[]> {
  const items: Out[] = [];
  for (const row of rows) {
    items.push(map(row));
    yield;
  }
  return items;
}

export function runAtOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Runs all steps. Between steps, lets other work run if the time slice is over. */
export async function runInSlices<Out>(steps: Steps<Out>, { endSlice }: Sliced): Promise<Out> {
  for (;;) {
    await endSlice?.();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
