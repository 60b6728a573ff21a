import { checkCorpus } from './corpus.ts';
import { checkDataFolder } from './data-folder.ts';
import { checkDatabases } from './databases.ts';
import { checkEngine } from './engine.ts';
import { checkModel } from './model.ts';
import { createProviderChecks } from './providers.ts';
import { createReachability } from './reachability.ts';
import type { Check, DoctorContext } from './run-checks.ts';
import { checkSettingsOf } from './settings.ts';

/** Returns all checks in the order of output. Callers must call `close` after the checks. */
export function openChecks(context: DoctorContext) {
  const { config } = context;
  const reachability = createReachability(context);
  const providers = createProviderChecks(context);
  const upstream = [
    'PERCH_PROVIDERS',
    'PERCH_FXTWITTER_URL',
    'PERCH_SYNDICATION_URL',
    'PERCH_BLUESKY_URL',
  ] as const;
  const checks: readonly Check[] = [
    { name: 'settings', needs: [], run: async () => checkSettingsOf(context) },
    {
      name: 'data_folder',
      needs: ['PERCH_DATA_DIR'],
      run: async () => checkDataFolder({ folder: config.PERCH_DATA_DIR }),
    },
    {
      name: 'databases',
      needs: ['PERCH_DATA_DIR'],
      run: (signal) => checkDatabases(config, signal),
    },
    { name: 'port', needs: ['HOST', 'PORT'], run: reachability.checkPort },
    { name: 'base_url', needs: ['PERCH_BASE_URL'], run: reachability.checkBaseUrl },
    {
      name: 'proxy',
      needs: ['PERCH_BASE_URL', 'PERCH_TRUST_PROXY', 'PERCH_ADMIN_TOKEN'],
      run: reachability.checkProxy,
    },
    { name: 'clock', needs: upstream, run: providers.checkClock },
    { name: 'providers', needs: upstream, run: providers.checkProviders },
    { name: 'engine', needs: ['PERCH_REDIS_URL'], run: () => checkEngine(context) },
    { name: 'corpus', needs: ['PERCH_CORPUS'], run: () => checkCorpus(context) },
    {
      name: 'model',
      needs: ['PERCH_MODEL_URL', 'PERCH_MODEL', 'PERCH_MODEL_KEY'],
      run: (signal) => checkModel(context, signal),
    },
  ];
  return { checks, close: reachability.close };
}
