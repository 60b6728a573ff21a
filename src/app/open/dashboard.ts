import {
  type AdminSessions,
  createAdminSessions,
} from '../../access/admin-sessions/admin-sessions.ts';
import {
  createInstanceAdminSessions,
  createSharedAdminSessions,
} from '../../access/admin-sessions/shared-admin-sessions.ts';
import { describeSettings } from '../../config/described-settings.ts';
import type { Clock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { renderAnswers } from '../../http/dashboard/answers/answers-page.ts';
import { renderArchive } from '../../http/dashboard/archive/archive-page.ts';
import { renderConfiguration } from '../../http/dashboard/configuration/configuration-page.ts';
import { createFigureSection } from '../../http/dashboard/figure-section.ts';
import { createKeysSection } from '../../http/dashboard/keys/keys-section.ts';
import { createOverviewSection } from '../../http/dashboard/overview/overview-section.ts';
import type { DashboardSection } from '../../http/dashboard/pages.ts';
import { answersPath, archivePath, configurationPath } from '../../http/dashboard/section-paths.ts';
import { toExampleHandle } from '../../http/pages/front/page.ts';
import type { Services } from '../surfaces.ts';
import type { OperatorFigures } from './operator-figures.ts';

/** Creates the store of logins. With a shared engine, a login is valid at every instance. */
export function createSessionsOfDashboard(clock: Clock, engine: Engine | null): AdminSessions {
  const own = createAdminSessions(clock);
  return engine === null
    ? own
    : createInstanceAdminSessions(createSharedAdminSessions(engine), own);
}

/** Creates the sections of the dashboard, in the order of the navigation. */
export function createSections(
  { access, config, random, site, settings }: Services,
  figures: OperatorFigures,
): readonly DashboardSection[] {
  return [
    createOverviewSection(figures.readOverview),
    createKeysSection({
      keys: access.keys,
      random,
      defaults: {
        allowance: config.PERCH_KEY_ALLOWANCE,
        windowSeconds: config.PERCH_ALLOWANCE_WINDOW_SECONDS,
      },
      handle: toExampleHandle(site),
    }),
    createFigureSection({
      link: { path: archivePath, text: 'Archive' },
      read: figures.readArchive,
      render: renderArchive,
    }),
    createFigureSection({
      link: { path: answersPath, text: 'Answers' },
      read: figures.readAnswers,
      render: renderAnswers,
    }),
    createFigureSection({
      link: { path: configurationPath, text: 'Configuration' },
      read: () => ({
        settings: describeSettings(config, settings),
        notices: figures.listNotices(),
      }),
      render: renderConfiguration,
    }),
  ];
}
