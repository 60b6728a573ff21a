import type { DashboardSection } from '../pages.ts';
import { dashboardPath } from '../paths.ts';
import { overviewPart } from '../section-paths.ts';
import type { OverviewFigures } from './figures.ts';
import { renderFigures, renderOverview } from './overview-page.ts';

export function createOverviewSection(read: () => Promise<OverviewFigures>): DashboardSection {
  return {
    link: { path: dashboardPath, text: 'Overview' },
    register: ({ page, part, site }) => {
      page({
        url: dashboardPath,
        show: async () => ({
          title: 'Overview',
          bodyHtml: renderOverview(await read(), site),
          styles: ['admin-figures.css', 'admin-charts.css'],
          scripts: ['admin-overview.js'],
        }),
      });
      part(overviewPart, async () => ({ html: renderFigures(await read(), site) }));
    },
  };
}
