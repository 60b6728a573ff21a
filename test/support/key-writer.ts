import { writeSync } from 'node:fs';
import { openKeyStore } from '../../src/access/keys/key-store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';

/** Change that this script is about to make. */
export type Attempt =
  | { readonly try: 'create'; readonly label: string }
  | { readonly try: 'disable' | 'enable' | 'delete' | 'rotate'; readonly id: string };

/** Change that this script has made. */
export type Acknowledgement =
  | { readonly did: 'create' | 'rotate'; readonly id: string; readonly key: string }
  | { readonly did: 'disable' | 'enable' | 'delete' };

/** Changes the keys in the file at `path` continuously until the process is killed. */
async function writeForever(path: string): Promise<never> {
  const store = openKeyStore({ path, clock: systemClock, random: systemRandom });
  const records = await store.list();
  const ids = records.map(({ id }) => id);
  const tell = (line: Attempt | Acknowledgement) => writeSync(1, `${JSON.stringify(line)}\n`);
  const create = async () => {
    const label = systemRandom.bytes(6).toString('hex');
    tell({ try: 'create', label });
    const { record, key } = await store.create({ label, notes: 'n'.repeat(200) });
    ids.push(record.id);
    tell({ did: 'create', id: record.id, key });
  };
  const change = async (id: string, act: 'disable' | 'enable') => {
    tell({ try: act, id });
    await store.change(id, { enabled: act === 'enable' });
    tell({ did: act });
  };
  const remove = async (id: string) => {
    tell({ try: 'delete', id });
    await store.remove(id);
    ids.splice(ids.indexOf(id), 1);
    tell({ did: 'delete' });
  };
  const rotate = async (id: string) => {
    tell({ try: 'rotate', id });
    const issued = await store.rotate(id);
    if (issued === undefined) throw new Error('the key to be rotated is not there');
    ids[ids.indexOf(id)] = issued.record.id;
    tell({ did: 'rotate', id: issued.record.id, key: issued.key });
  };
  const changes = [
    create,
    (id: string) => change(id, 'disable'),
    (id: string) => change(id, 'enable'),
    remove,
    rotate,
  ];
  for (;;) {
    const id = ids[Math.floor(systemRandom.fraction() * ids.length)];
    const make = changes[Math.floor(systemRandom.fraction() * changes.length)];
    await (id === undefined || make === undefined || ids.length < 5 ? create() : make(id));
  }
}

const [path] = process.argv.slice(2);
if (path !== undefined && import.meta.filename === process.argv[1]) await writeForever(path);
