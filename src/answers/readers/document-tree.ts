/** A value of a JSON or YAML document, with the line on which it begins, from 1. */
export type DocumentNode = ScalarNode | ListNode | MapNode;

/** A value without parts, as text. */
export interface ScalarNode {
  readonly kind: 'scalar';
  readonly line: number;
  readonly text: string;
}

/** Values in their order. */
export interface ListNode {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly DocumentNode[];
}

/** Values by their names, in the order of the document. */
export interface MapNode {
  readonly kind: 'map';
  readonly line: number;
  readonly entries: ReadonlyMap<string, DocumentEntry>;
}

/** A member of a map, with the line of its name. */
export interface DocumentEntry {
  readonly key: string;
  readonly line: number;
  readonly value: DocumentNode | undefined;
}

/** Gives what stands in a document below these keys. */
export function nodeAt(
  node: DocumentNode | undefined,
  ...keys: readonly string[]
): DocumentNode | undefined {
  let here = node;
  for (const key of keys) here = here?.kind === 'map' ? here.entries.get(key)?.value : undefined;
  return here;
}

/** Gives the text below these keys; empty where there is none. */
export function textAt(node: DocumentNode | undefined, ...keys: readonly string[]): string {
  const found = nodeAt(node, ...keys);
  return found?.kind === 'scalar' ? found.text : '';
}

/** Gives the members of a map; none of anything else. */
export function entriesOf(node: DocumentNode | undefined): readonly DocumentEntry[] {
  return node?.kind === 'map' ? [...node.entries.values()] : [];
}

/** Gives the values of a list; none of anything else. */
export function itemsOf(node: DocumentNode | undefined): readonly DocumentNode[] {
  return node?.kind === 'list' ? node.items : [];
}
