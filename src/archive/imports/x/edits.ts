import type { EarlierVersion, Status } from '../../../model/post.ts';
import type { ExportedPost } from '../export-source.ts';

/** Exported post of the owner of the export. */
export interface OwnPost extends ExportedPost {
  readonly post: Status;
}

/** Maximum size, in characters, of the edited posts that are held in memory. */
const maxCharacters = 2 ** 26;

const postCharacters = 500; // size of a post in addition to its text

/**
 * Creates a collector of the versions of edited posts. X exports each version as a post, in any order and in different
 * files.
 */
export function createEdits() {
  const groups = new Map<string, OwnPost[]>();
  const orders = new Map<string, readonly string[]>();
  let characters = 0;
  return {
    /**
     * Takes a version of an edited post. `ids`: ids of all versions, in the order of the edits. Returns `false` if the
     * post was not edited, or if the collector is full. The caller then imports the post as it is.
     */
    take: (item: OwnPost, ids: readonly string[]): boolean => {
      const [first] = ids;
      if (first === undefined || !ids.includes(item.post.id)) return false;
      characters += item.post.text.length + postCharacters;
      if (characters > maxCharacters) return false;
      const group = groups.get(first) ?? [];
      group.push(item);
      groups.set(first, group);
      if (ids.length > (orders.get(first)?.length ?? 0)) orders.set(first, ids);
      return true;
    },
    /** Yields the last version of each edited post. */
    *finish(): Generator<ExportedPost> {
      for (const [first, group] of groups) yield* joinVersions(group, orders.get(first) ?? []);
    },
  };
}

/** Yields the last version of a post, with the texts of the earlier versions. */
function* joinVersions(
  group: readonly OwnPost[],
  ids: readonly string[],
): Generator<ExportedPost, void, undefined> {
  const byId = new Map(group.map((item) => [item.post.id, item]));
  const versions = ids.flatMap((id) => byId.get(id) ?? []);
  const last = versions.at(-1);
  if (last === undefined) return;
  const { post } = last;
  const earlier = versions.slice(0, -1).map(toEarlier);
  const edits: Partial<Status> = {
    ...(post.id !== ids[0] && { edited_at: post.created_at }),
    ...(earlier.length > 0 && { earlier_versions: earlier }),
  };
  yield { ...last, post: { ...post, ...edits } };
}

const toEarlier = ({ post: { id, text, created_at } }: OwnPost): EarlierVersion => ({
  id,
  text,
  created_at,
});
