/** Context of work in time slices, which do not block the event loop (docs/decisions/0062). */
export interface Sliced {
  /** Called between steps; waits for a turn if the time slice is used up. Default: the work is not divided. */
  readonly endSlice?: (() => Promise<void>) | undefined;
}

const sliceMs = 20;

export type Slices = ReturnType<typeof createSlices>;

/** Creates the time slices of one task, which begins now. `takeTurn` waits until the task may continue. */
export function createSlices(takeTurn: () => Promise<unknown>) {
  let beginMs = performance.now();
  /** Starts a new time slice. Called when the task resumes after waiting, for example for a file or a response. */
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

/** Maps rows one by one, and ends the time slice between two rows if it is used up. */
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

/** Generator of steps, between which a time slice can end. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

export function* mapInSteps<In, Out>(rows: readonly In[], map: (row: In) => Out): Steps<Out[]> {
  const items: Out[] = [];
  for (const row of rows) {
    items.push(map(row));
    yield;
  }
  return items;
}

/** Runs all steps without a pause, and returns their result. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Runs all steps, ends the time slice between two of them if it is used up, and returns their result. */
export async function runInSlices<Out>(steps: Steps<Out>, { endSlice }: Sliced): Promise<Out> {
  for (;;) {
    await endSlice?.();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
