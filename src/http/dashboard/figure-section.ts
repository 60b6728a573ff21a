import type { Site } from '../pages/layout.ts';
import type { DashboardSection, SectionLink } from './pages.ts';

/** Section with a single page, which only shows figures. */
interface FigureSection<Figures> {
  readonly link: SectionLink;
  readonly read: () => Figures | Promise<Figures>;
  /** Renders the body of the page as HTML, which starts with the `h1`. */
  readonly render: (figures: Figures, site: Site) => string;
}

/** Creates a section of the dashboard with a single page of figures. */
export function createFigureSection<Figures>(section: FigureSection<Figures>): DashboardSection {
  const { link, read, render } = section;
  return {
    link,
    register: ({ page, site }) =>
      page({
        url: link.path,
        show: async () => ({
          title: link.text,
          bodyHtml: render(await read(), site),
          styles: ['admin-figures.css'],
        }),
      }),
  };
}
