import type { Config } from '../../config/config.ts';
import { listOwnFilesIfReadable, savedDatabases } from '../../lib/files/data-folder.ts';

type DatabaseName = (typeof savedDatabases)[number];

const losses: Readonly<Record<DatabaseName, string>> = {
  'archive.db': 'The archive has no imported posts',
  'perch.db': 'All API keys are invalid',
  'sessions.db': 'All earlier sessions are unknown',
};

/** Missing database (`name`), and a sentence about the consequence (`loss`) without a full stop. */
export type LostDatabase = Readonly<{ name: DatabaseName; loss: string }>;

/** Returns databases missing in a folder that a server has used, whose content is lost. */
export function findLostDatabases(config: Config): readonly LostDatabase[] {
  const expected = listExpected(config);
  const names = listOwnFilesIfReadable(config.PERCH_DATA_DIR);
  const isIn = (name: string) => names.includes(name);
  // Commands create the other files too, so these do not show that a server has used the folder.
  const hasRun = expected.includes('sessions.db')
    ? isIn('session.key') || isIn('sessions.db')
    : isIn('cursor.key') && savedDatabases.some(isIn);
  const lost = hasRun ? expected.filter((name) => !isIn(name)) : [];
  return lost.map((name) => ({ name, loss: losses[name] }));
}

function listExpected(config: Config): readonly DatabaseName[] {
  if (config.PERCH_REDIS_URL !== undefined) return [];
  const isUsed = {
    'archive.db': config.PERCH_PROVIDERS.includes('archive'),
    'perch.db': true,
    'sessions.db': config.PERCH_SESSIONS && config.PERCH_SESSION_STORE === 'file',
  };
  return savedDatabases.filter((name) => isUsed[name]);
}
