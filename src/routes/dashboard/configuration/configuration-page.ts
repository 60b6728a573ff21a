import { Html, type HtmlPart, html } from '../../../render/html/markup.ts';
import { toLine } from '../../../render/markdown/characters.ts';
import { docsPath, renderCode, renderLink, type Site } from '../../pages/layout.ts';
import { renderBadge, renderSection } from '../layout.ts';

/** Setting; `value` is `null` if the setting has no value, and masked if it is secret. */
export interface ShownSetting {
  readonly name: string;
  readonly area: SettingArea;
  readonly value: string | null;
  readonly isDefault: boolean;
  /** Place where the value was set, such as `environment`. */
  readonly source: string;
  readonly default: string | null;
  /** Meaning of the setting in Markdown, with names in backticks and emphasis in asterisks. */
  readonly description: string;
}

const areas = {
  general: 'Server, providers, cache and allowances',
  sharedEngine: 'Shared engine',
  limits: 'Limits',
  model: 'Language model',
  sessions: 'Sessions and questions',
} as const;

type SettingArea = keyof typeof areas;

export type Notices = Readonly<Record<'faults' | 'warnings', readonly string[]>>;

export interface ConfigurationFigures {
  readonly settings: readonly ShownSetting[];
  readonly notices: Notices;
}

/** Renders the body of the page with the effective settings, without secret values. */
export function renderConfiguration(figures: ConfigurationFigures, site: Site): Html {
  const { settings, notices } = figures;
  const own = settings.filter(({ isDefault }) => !isDefault);
  return html`<h1>Configuration</h1>
<p class="lede">The settings with which this server started. To change a setting, see ${renderLink(`${docsPath}/configuration`, 'Configuration', site)}, and restart the server. Values of secrets are masked.</p>
${renderSection('notices', 'Faults and warnings', renderNotices(notices))}
${renderSection(
  'set',
  'Settings that you have set',
  own.length === 0
    ? html`<p class="empty">No setting is set, so all settings have their defaults.</p>`
    : renderSettings(own, () => null),
)}
${renderSection(
  'all',
  'All settings',
  Object.entries(areas).map(([area, title]) => {
    const shown = settings.filter((setting) => setting.area === area);
    return html`<details class="area"><summary>${title} <span class="soft">(${shown.length})</span></summary>
${renderSettings(shown, renderDescription)}
</details>\n`;
  }),
)}`;
}

function renderNotices({ faults, warnings }: Notices): Html {
  const items = [
    ...faults.map((text) => html`<li>${renderBadge('Fault', 'off')} ${renderCode(text)}</li>`),
    ...warnings.map((text) => html`<li>${renderBadge('Warning')} ${renderCode(text)}</li>`),
  ];
  if (items.length > 0) return html`<ul class="alerts">${items}</ul>`;
  return html`<p class="empty">There are no faults and no warnings.</p>`;
}

type RenderSetting = (setting: ShownSetting) => HtmlPart;

const renderSettings = (settings: readonly ShownSetting[], renderMore: RenderSetting) =>
  html`<dl class="effective">${settings.map(
    (one) =>
      html`<div class="setting"><dt><code>${one.name}</code></dt><dd class="value">${renderValue(one)}</dd><dd class="soft">${renderSource(one)}</dd>${renderMore(one)}</div>\n`,
  )}</dl>`;

const renderValue = ({ value }: ShownSetting) =>
  value === null ? html`<span class="unset">Not set</span>` : html`<code>${toLine(value)}</code>`;

function renderSource({ isDefault, source, default: byDefault }: ShownSetting): HtmlPart {
  if (isDefault) return 'Default';
  const instead = byDefault !== null && html`. Default: <code>${toLine(byDefault)}</code>`;
  return html`Set by: ${toLine(source)}${instead}`;
}

function renderDescription({ description }: ShownSetting): Html {
  const text = String(renderCode(description)).replaceAll(/\*([^*]+)\*/g, '<em>$1</em>');
  return html`<dd class="soft about">${new Html(text)}</dd>`;
}
