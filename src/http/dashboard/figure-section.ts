import type { Site } from '../pages/layout.ts';
import type { DashboardSection, SectionLink } from './pages.ts';

interface FigureSection<Figures> {
  readonly link: SectionLink;
  readonly read: () => Figures | Promise<Figures>;
  /** Renders the body of the page as HTML that starts with the `h1` heading. */
  readonly render: (figures: Figures, site: Site) => string;
}

/** Creates a section with one page, which has no forms. */
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
