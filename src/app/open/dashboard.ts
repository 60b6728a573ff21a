import {
  type AdminSessions,
  createAdminSessions,
} from '../../access/admin-sessions/admin-sessions.ts';
import {
  createInstanceAdminSessions,
  createSharedAdminSessions,
} from '../../access/admin-sessions/shared-admin-sessions.ts';
import type { Clock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { createKeysSection } from '../../http/dashboard/keys/keys-section.ts';
import type { DashboardSection } from '../../http/dashboard/pages.ts';
import { toExampleHandle } from '../../http/pages/front/page.ts';
import type { Services } from '../surfaces.ts';

/** Creates the store of the dashboard's sessions. With a shared engine, a session is valid at every instance. */
export function createSessionsOfDashboard(clock: Clock, engine: Engine | null): AdminSessions {
  const own = createAdminSessions(clock);
  return engine === null
    ? own
    : createInstanceAdminSessions(createSharedAdminSessions(engine), own);
}

/** Creates the sections of the dashboard, in the order of the navigation. */
export function createSections({ access, config, random, site }: Services) {
  const sections: readonly DashboardSection[] = [
    createKeysSection({
      keys: access.keys,
      random,
      defaults: {
        allowance: config.PERCH_KEY_ALLOWANCE,
        windowSeconds: config.PERCH_ALLOWANCE_WINDOW_SECONDS,
      },
      handle: toExampleHandle(site),
    }),
  ];
  return sections;
}
