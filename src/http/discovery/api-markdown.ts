import type { ApiIndex } from './api-description.ts';

/** Writes the description of the service as the Markdown document of `/api`. */
export function toApiMarkdown(api: ApiIndex): string {
  const blocks = [
    `# ${api.name}`,
    api.description,
    `Version ${api.version}, at <${api.base_url}>. Paths below begin there.`,
    ...api.surfaces.flatMap(writeSurface),
    '## Formats',
    ['| `format` | media type | of |', '| --- | --- | --- |', ...api.formats.map(writeFormat)],
    '## Keys and limits',
    writeKeys(api),
    [
      '| policy | units | what it counts |',
      '| --- | --- | --- |',
      ...api.limits.allowances.map(
        ({ policy, units, applies_to }) => `| \`${policy}\` | ${units} | ${applies_to} |`,
      ),
    ],
    '## Errors',
    `Every error is \`${api.errors.media_type}\` with a \`code\`: <${api.errors.documentation}>`,
    '## Versioning',
    `\`${api.versioning.base_path}\` is current: <${api.versioning.policy_url}>`,
    api.versioning.deprecated_aliases.map(writeAlias),
    '## Documentation',
    Object.entries(api.documentation).map(([name, url]) => `- [${name}](${url})`),
  ];
  const written = blocks.map((block) => [block].flat().join('\n'));
  return `${written.filter((text) => text !== '').join('\n\n')}\n`;
}

function writeSurface({ name, description, routes }: ApiIndex['surfaces'][number]) {
  const lines = routes.map(
    ({ method, path, also = [], summary, deprecated }) =>
      `- \`${method} ${path}\`${also.map((other) => `, \`${other}\``).join('')}: ${summary}${deprecated === true ? ' Deprecated.' : ''}`,
  );
  return [`## Surface ${name}`, description, lines];
}

function writeFormat({ name, media_type, reads }: ApiIndex['formats'][number]): string {
  return `| \`${name}\` | \`${media_type}\` | ${reads.map((read) => `\`${read}\``).join(', ')} |`;
}

function writeKeys({ authentication: { key }, limits }: ApiIndex): string {
  return `Nobody needs a key. One is sent as \`${key.header}: ${key.scheme}\` and asked for at <${key.request_url}>. Allowances are counted over ${limits.window_seconds} seconds, and a 429 says in \`Retry-After\` how long to wait.`;
}

function writeAlias(alias: ApiIndex['versioning']['deprecated_aliases'][number]): string {
  const { path, deprecation_iso, sunset_iso, successor, successors = {} } = alias;
  const targets = successor === undefined ? Object.values(successors) : [successor];
  const named = targets.map((target) => `\`${target}\``).join(', ');
  return `- \`${path}\`: deprecated ${deprecation_iso}, sunset ${sunset_iso}, successor ${named}`;
}
