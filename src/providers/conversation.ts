interface ThreadForm<Row> {
  readonly parentOf: (row: Row) => string | null;
  readonly authorOf: (row: Row) => string;
  readonly likesOf: (row: Row) => number | null;
  readonly byOldest: (a: Row, b: Row) => number;
}

interface Ranking<Row> {
  /** Ids of the posts whose direct replies are sorted by `order`; `null` for unknown ids. */
  readonly answeredIds: readonly (string | null)[];
  readonly order: 'top' | 'recent';
  readonly others?: readonly Row[];
}

export function createThreadOrder<Row extends { readonly id: string }>(form: ThreadForm<Row>) {
  const { parentOf, authorOf, likesOf, byOldest } = form;
  const groupByParent = (rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> => {
    const groups = new Map<string, Row[]>();
    for (const row of rows.toSorted(byOldest)) {
      const parent = parentOf(row);
      if (parent === null || parent === row.id) continue;
      const group = groups.get(parent);
      if (group === undefined) groups.set(parent, [row]);
      else group.push(row);
    }
    return groups;
  };
  const isOwn = (row: Row, focal: Row) => row.id !== focal.id && authorOf(row) === authorOf(focal);
  const byLikes = (a: Row, b: Row) => (likesOf(b) ?? -1) - (likesOf(a) ?? -1) || byOldest(a, b);
  return {
    /** Returns the author's first reply to `focal`, the author's first reply to it, and so on. */
    pickContinuation: (focal: Row, rows: readonly Row[]): readonly Row[] => {
      const own = groupByParent(rows.filter((row) => isOwn(row, focal)));
      const chain = new Map([[focal.id, focal]]);
      let next = own.get(focal.id)?.[0];
      while (next !== undefined && !chain.has(next.id)) {
        chain.set(next.id, next);
        next = own.get(next.id)?.[0];
      }
      return [...chain.values()].slice(1);
    },
    /** Returns replies to `answeredIds` by `order`, then `others`, each followed by its replies. */
    rankReplies: (rows: readonly Row[], { answeredIds, order, others = [] }: Ranking<Row>) => {
      const byParent = groupByParent(rows);
      const direct = answeredIds
        .flatMap((id) => byParent.get(id ?? '') ?? [])
        .sort(order === 'top' ? byLikes : (a, b) => byOldest(b, a));
      const found: Row[] = [];
      const waiting = [...direct, ...others].reverse();
      // Each row has one parent, so no row is visited twice and cycles are not reached.
      for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
        found.push(row);
        waiting.push(...(byParent.get(row.id)?.toReversed() ?? []));
      }
      return found;
    },
  };
}
