import { z } from 'zod';
import { listEndpoints } from '../src/app/endpoints.ts';
import { toAllowanceLimits } from '../src/app/open/bounds.ts';
import { loadConfig, variables } from '../src/config/config.ts';
import { problemKinds } from '../src/core/problem.ts';
import { version } from '../src/core/version.ts';
import { describeOpenApi } from '../src/http/openapi/document.ts';
import { moveExamples, type RecordedExamples } from '../src/http/openapi/examples.ts';
import { recordExamples } from './record-examples.ts';

/** Every file that is generated from a source, by its path: `npm run generate` writes them. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  const examples = await recordExamples();
  return {
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(),
    'openapi/examples.json': `${JSON.stringify(examples, null, 2)}\n`,
    'openapi/perch.json': machineDescription(examples),
  };
}

/** As it is served without configuration, but for what depends on the day. */
function machineDescription(examples: RecordedExamples): string {
  const loaded = loadConfig({});
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const { PERCH_BASE_URL: baseUrl, PERCH_LINK_PREVIEWS: linkPreviews } = loaded.config;
  const endpoints = listEndpoints(loaded.config.PERCH_SESSION_PREFIX);
  const limits = toAllowanceLimits(loaded.config);
  const facts = { baseUrl, version, nowMs: null, linkPreviews, endpoints, limits };
  const moved = moveExamples(examples, baseUrl);
  return `${JSON.stringify(describeOpenApi({ ...facts, examples: moved }), null, 2)}\n`;
}

function configurationPage(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const value = defaultOf(schema);
    return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${schema.description}${choiceOf(schema)} |`;
  });
  return `# Configuration

Perch is configured by environment variables and needs none of them. An empty variable counts as
not set. Start-up checks all of them, prints every fault at once and exits with code 2; a \`PERCH_…\`
variable that does not exist is named in a warning.

\`\`\`sh
PORT=9000 PERCH_BASE_URL=https://perch.example.org npm start
\`\`\`

| variable | default | what it does |
| --- | --- | --- |
${rows.join('\n')}

Made from \`src/config/config.ts\` by \`npm run generate\`.
`;
}

function defaultOf(schema: z.ZodType): string | undefined {
  if (!(schema instanceof z.ZodDefault)) return undefined;
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.join(',');
  return String(value);
}

/** The values of a variable that has a list of them, as a sentence. */
function choiceOf(schema: z.ZodType): string {
  const inner = schema instanceof z.ZodDefault ? schema.def.innerType : schema;
  if (!(inner instanceof z.ZodEnum)) return '';
  return ` One of ${inner.options.map((value) => `\`${value}\``).join(', ')}.`;
}

function errorsPage(): string {
  const rows = Object.entries(problemKinds).map(
    ([code, { status, when }]) => `| ${status} | [\`${code}\`](#${code}) | ${when} |`,
  );
  const entries = Object.entries(problemKinds).map(
    ([code, { status, title, when, resolution }]) =>
      `## ${code}\n\n${status}, “${title}”: ${when}.\n\n${resolution}\n`,
  );
  return `# Errors

Every error is a problem document ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) of the media
type \`application/problem+json\`, whatever \`Accept\` says. Switch on \`code\`: a code keeps its meaning
and its status. \`detail\` says what was wrong this time, \`resolution\` what to do; both are for people
and may change. \`retry_after\` (seconds) stands beside every \`Retry-After\`. Errors are never cached.

\`\`\`sh
curl -s 'http://localhost:8080/api/v1/posts?url=https://x.com/jack'
\`\`\`

| status | \`code\` | when |
| --- | --- | --- |
${rows.join('\n')}

${entries.join('\n')}
Made from \`src/core/problem.ts\` by \`npm run generate\`.
`;
}
