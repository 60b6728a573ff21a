import { escapeLine } from '../../../render/html/markup.ts';
import { docsPath, renderCode, renderLink, type Site } from '../../pages/layout.ts';

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

export interface Notice {
  readonly kind: 'fault' | 'warning';
  readonly text: string;
}

export interface ConfigurationFigures {
  readonly settings: readonly ShownSetting[];
  readonly notices: readonly Notice[];
}

/** Renders the body of the page with the effective settings, without secret values. */
export function renderConfiguration(figures: ConfigurationFigures, site: Site): string {
  const { settings, notices } = figures;
  const own = settings.filter(({ isDefault }) => !isDefault);
  const names = Object.keys(areas) as SettingArea[]; // `areas` has no other keys
  return `<h1>Configuration</h1>
<p class="lede">The settings with which this server started. To change a setting, see ${renderLink(`${docsPath}/configuration`, 'Configuration', site)}, and restart the server. Values of secrets are masked.</p>
${renderNotices(notices)}
<section aria-labelledby="set">
<h2 id="set">Settings that you have set</h2>
${own.length === 0 ? '<p class="empty">No setting is set, so all settings have their defaults.</p>' : renderSettings(own, 'brief')}
</section>
<section aria-labelledby="all">
<h2 id="all">All settings</h2>
${names.map((area) => renderArea(area, settings)).join('\n')}
</section>`;
}

function renderNotices(notices: readonly Notice[]): string {
  const items = notices.map(
    ({ kind, text }) =>
      `<li><span class="badge${kind === 'fault' ? ' off' : ''}">${kind === 'fault' ? 'Fault' : 'Warning'}</span> ${renderCode(text)}</li>`,
  );
  return `<section aria-labelledby="notices">
<h2 id="notices">Faults and warnings</h2>
${items.length === 0 ? '<p class="empty">There are no faults and no warnings.</p>' : `<ul class="alerts">${items.join('')}</ul>`}
</section>`;
}

function renderArea(area: SettingArea, settings: readonly ShownSetting[]): string {
  const own = settings.filter((setting) => setting.area === area);
  return `<details class="area"><summary>${areas[area]} <span class="soft">(${own.length})</span></summary>
${renderSettings(own, 'full')}
</details>`;
}

function renderSettings(settings: readonly ShownSetting[], extent: 'brief' | 'full'): string {
  const items = settings.map((setting) => {
    const description =
      extent === 'full'
        ? `<dd class="soft about">${renderDescription(setting.description)}</dd>`
        : '';
    return `<div class="setting"><dt><code>${setting.name}</code></dt><dd class="value">${renderValue(setting)}</dd><dd class="soft">${renderSource(setting)}</dd>${description}</div>`;
  });
  return `<dl class="effective">${items.join('\n')}</dl>`;
}

function renderValue({ value }: ShownSetting): string {
  if (value === null) return '<span class="unset">Not set</span>';
  return `<code>${escapeLine(value)}</code>`;
}

function renderSource({ isDefault, source, default: byDefault }: ShownSetting): string {
  if (isDefault) return 'Default';
  const instead = byDefault === null ? '' : `. Default: <code>${escapeLine(byDefault)}</code>`;
  return `Set by: ${escapeLine(source)}${instead}`;
}

function renderDescription(text: string): string {
  return renderCode(text).replaceAll(/\*([^*]+)\*/g, '<em>$1</em>');
}
