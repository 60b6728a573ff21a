/** JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Kinds of objects in payloads, and the function that reads a single object. */
export interface Kinds {
  /** Returns the kind of the object in a member, such as `status` in `quote`; `null` for other objects. */
  of(member: string, value: Json): string | null;
  /** Reads an object of a kind with the provider, in a minimal payload. */
  readonly readers: Readonly<Record<string, (object: Json) => Promise<unknown>>>;
}

/** Location of a value in a payload: the object that contains it, and the path. */
export interface Place {
  /** Path that starts with the kind of the object, such as `status.media.all[].url`. */
  readonly path: string;
  readonly kind: string;
  readonly object: Json;
  readonly keys: readonly (string | number)[];
  readonly value: unknown;
}

/** Returns all locations in a body: within the objects of known kinds, and outside of them. */
export function findPlaces(body: unknown, kinds: Kinds): readonly Place[] {
  return walkAround(body, { member: 'body', path: 'body', kinds });
}

interface Around {
  readonly member: string;
  readonly path: string;
  readonly kinds: Kinds;
}

function walkAround(value: unknown, { member, path, kinds }: Around): readonly Place[] {
  if (Array.isArray(value)) {
    return value.flatMap((row) => walkAround(row, { member, path: `${path}[]`, kinds }));
  }
  if (!isObject(value)) return [{ path, kind: '', object: {}, keys: [], value }];
  const kind = kinds.of(member, value);
  if (kind !== null && kinds.readers[kind] !== undefined) {
    return walkObject(value, { kind, object: value, path: kind, keys: [] }, kinds);
  }
  return Object.entries(value).flatMap(([name, child]) =>
    walkAround(child, { member: name, path: `${path}.${name}`, kinds }),
  );
}

function walkObject(value: unknown, at: Omit<Place, 'value'>, kinds: Kinds): readonly Place[] {
  if (Array.isArray(value) && value.length > 0) {
    const own = `${at.path}[]`;
    const paths = value.map((row) => pathOf(at, row, kinds, own));
    const rows = value.flatMap((row, index) =>
      walkObject(row, { ...at, path: paths[index] ?? own, keys: [...at.keys, index] }, kinds),
    );
    return paths.every((path) => path === own) ? rows : [{ ...at, value }, ...rows];
  }
  if (!isObject(value) || Object.keys(value).length === 0) return [{ ...at, value }];
  return Object.entries(value).flatMap(([name, child]) => {
    const keys = [...at.keys, name];
    const own = `${at.path}.${name}`;
    const path = pathOf({ keys }, child, kinds, own);
    const below = walkObject(child, { ...at, path, keys }, kinds);
    return path === own ? below : [{ ...at, path: own, keys, value: child }, ...below];
  });
}

/** Returns the path of a value. It starts anew at each object of a known kind. */
function pathOf({ keys }: Pick<Place, 'keys'>, value: unknown, kinds: Kinds, path: string): string {
  const member = keys.findLast((key) => typeof key === 'string');
  return (isObject(value) && typeof member === 'string' && kinds.of(member, value)) || path;
}

/** Returns whether a value is an object of JSON. The CID of a record is an instance of a class, and has no members. */
function isObject(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** Returns a copy of the object with a different value at a location, if possible one that its schema accepts. */
export function change({ object, keys, value }: Place): Json {
  // Not `structuredClone`, which preserves shared references.
  const changed: Record<string | number, unknown> = JSON.parse(JSON.stringify(object));
  let parent = changed;
  // The keys exist, because they were collected from the same object.
  for (const key of keys.slice(0, -1)) parent = parent[key] as typeof changed;
  parent[keys.at(-1) ?? ''] = another(value);
  return changed;
}

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'object') return null;
  if (typeof value !== 'string') return value;
  if (/^\d+$/.test(value)) return String(BigInt(value) + 1n);
  if (/^\d{4}-\d\d-\d\d/.test(value)) return `1999${value.slice(4)}`;
  if (/ \d{4}$/.test(value)) return value.replace(/\d{4}$/, '1999');
  return `${value}x`;
}

/** Returns whether a different value at a location changes the result. */
export async function reaches(place: Place, kinds: Kinds): Promise<boolean> {
  const read = kinds.readers[place.kind];
  if (read === undefined) return false;
  const before = await answerOf(read(place.object));
  return before !== (await answerOf(read(change(place))));
}

async function answerOf(found: Promise<unknown>): Promise<string> {
  return JSON.stringify(await found.catch((error: unknown) => String(error)));
}

/** Options of `watch`: the kind of the object, and the set for missing members. */
export interface Watched {
  readonly kind: string;
  readonly kinds: Kinds;
  readonly missing: Set<string>;
}

/** Returns a copy of an object that records the paths of members that are read but missing. */
export function watch(object: Json, { kind, kinds, missing }: Watched): unknown {
  const wrap = (value: unknown, path: string, member: string): unknown => {
    if (Array.isArray(value)) {
      return value.map((row) => wrap(row, nameOf(row, member, `${path}[]`), member));
    }
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(
      ([name, child]) => [name, wrap(child, nameOf(child, name, `${path}.${name}`), name)] as const,
    );
    return new Proxy<Record<string, unknown>>(Object.fromEntries(members), {
      get: (target, name) => {
        const isMember = typeof name === 'string' && name !== 'length';
        if (isMember && !(name in target)) missing.add(`${path}.${name}`);
        return target[String(name)];
      },
    });
  };
  const nameOf = (value: unknown, member: string, path: string) =>
    (isObject(value) && kinds.of(member, value)) || path;
  return wrap(object, kind, '');
}
