import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { loadCommands } from '../src/cli/commands.ts';
import { loadConfig, secretNames, variables } from '../src/config/config.ts';
import { isSecret } from '../src/config/schemas.ts';
import { defaultOf } from '../src/config/shown-settings.ts';
import { fileVariableOf } from '../src/config/sources.ts';
import { packagePath } from '../src/lib/files/package-path.ts';
import { problemKinds } from '../src/lib/problem.ts';
import { version } from '../src/lib/version.ts';
import { describeAdminApi, describeOpenApi } from '../src/routes/openapi/document.ts';
import { moveExamples, type RecordedExamples } from '../src/routes/openapi/examples.ts';
import { adminEndpoints, listEndpoints } from '../src/server/endpoints.ts';
import { toAllowanceLimits } from '../src/server/wiring/bounds.ts';
import { type Description, writeClientTypes } from './client-types.ts';
import { type ManVariable, renderManPage } from './man-page.ts';
import { recordExamples } from './record-examples.ts';
import { writeTracingTables } from './tracing-tables.ts';

/** Returns the content of all generated files by path. `npm run generate` writes them. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  const examples = await recordExamples();
  const description = openApiDescription(examples);
  return {
    'clients/typescript/src/generated.ts': writeClientTypes(toDescription(description)),
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(),
    'docs/tracing.md': writeTracingTables(readFileSync(packagePath('docs/tracing.md'), 'utf8')),
    'man/perch.1': renderManPage(await loadCommands(), listVariables()),
    'openapi/examples.json': `${JSON.stringify(examples, null, 2)}\n`,
    'openapi/admin.json': adminDescription(examples),
    'openapi/perch.json': description,
  };
}

/**
 * Parses the OpenAPI description. Does not check its structure, because `describeOpenApi` created
 * it.
 */
const toDescription = (text: string): Description => JSON.parse(text);

/**
 * Returns the base URL, version, routes and rate limits of a server with default settings. The member `nowMs` of the
 * result is `null`, so that the generated files do not depend on the date.
 */
function defaultFacts() {
  const loaded = loadConfig({});
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const { PERCH_BASE_URL: baseUrl } = loaded.config;
  const endpoints = listEndpoints(loaded.config.PERCH_SESSION_PREFIX);
  const limits = toAllowanceLimits(loaded.config);
  return { baseUrl, version, nowMs: null, endpoints, limits };
}

/**
 * Returns the OpenAPI description of the public routes of a server with default settings. The
 * description does not depend on the date.
 */
function openApiDescription(examples: RecordedExamples): string {
  const facts = defaultFacts();
  const moved = moveExamples(examples, facts.baseUrl);
  return `${JSON.stringify(describeOpenApi({ ...facts, examples: moved }), null, 2)}\n`;
}

/** Returns the OpenAPI description of the admin routes, for a server with default settings. */
function adminDescription(examples: RecordedExamples): string {
  const { baseUrl } = defaultFacts();
  const facts = { baseUrl, version, endpoints: adminEndpoints };
  const moved = moveExamples(examples, baseUrl);
  return `${JSON.stringify(describeAdminApi({ ...facts, examples: moved }), null, 2)}\n`;
}

function configurationPage(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const value = defaultOf(schema);
    return `| \`${name}\` | ${value === null ? '' : `\`${value}\``} | ${schema.description}${choiceOf(schema)}${fileOf(name, schema)} |`;
  });
  return `# Configuration

Configure Perch with environment variables, or with a [file](#read-settings-from-a-file). No variable is required to
start Perch. An empty variable has the same effect as a variable that is not set.

\`\`\`sh
PORT=9000 PERCH_BASE_URL=https://perch.example.org npm start
\`\`\`

If a value is not valid, Perch prints all errors and exits with code 2. If Perch does not know a variable that starts
with \`PERCH_\`, Perch prints a warning, because the name is probably misspelled. Variables with the default \`true\` or
\`false\` accept \`true\`, \`1\`, \`yes\` or \`on\`, and \`false\`, \`0\`, \`no\` or \`off\`.

\`npx perch config\` prints all settings with their values, and the place where each value was set. Secrets are masked. With
\`--json\`, the command prints one object. To check the settings and everything that the server needs, run [\`perch
doctor\`](troubleshooting.md#check-your-setup-with-perch-doctor).

## Read settings from a file

Write the settings into a file, with one \`NAME=value\` in each line:

\`\`\`ini
# The public address of this server
PERCH_BASE_URL=https://perch.example.org
PERCH_ADMIN_TOKEN_FILE=/run/secrets/admin-token
PERCH_USER_AGENT='Perch of Example, Inc. #1'
\`\`\`

Set \`PERCH_CONFIG\` to the path of the file, or add the option \`--config FILE\` to any command. Options such as \`--port\`
have priority over environment variables, and environment variables have priority over the file.

- Empty lines, and lines that start with \`#\` or \`;\`, are ignored.
- Enclose a value in single or double quotes if it contains spaces at its ends, quotes, backticks, \`#\` or a backslash.
  A value in single quotes cannot contain a single quote. A value in double quotes cannot contain a double quote or a
  backslash.
- The same file works as an \`EnvironmentFile\` of systemd, and with \`node --env-file\`. If systemd and Node.js would read
  different values from a line, Perch refuses the line.
- If a line is not valid, Perch prints the file, the line and the error.
- Relative paths in a value start from the folder in which you run Perch.

## Read secrets from files

Secrets of Docker, Kubernetes and systemd are files. To read a secret from such a file, add the suffix \`_FILE\` to the
name of the variable for the secret, and set the variable with the suffix to the path of the file:

\`\`\`sh no-run="needs the file"
PERCH_ADMIN_TOKEN_FILE=/run/secrets/admin-token npm start
\`\`\`

Only variables for secrets support the suffix: ${listSecrets()}. The file must contain only the secret. Perch ignores the line end after the
secret. Perch reads the file when Perch starts. If you set both the variable and the variable with \`_FILE\`, or if Perch
cannot read the file, Perch prints the error and exits with code 2.

## Settings

The descriptions use these terms:

- A read is a request for a post, a profile, a list or a search. Replies to a post and oEmbed documents count as posts.
- An upstream is a server that Perch reads from.
- A [provider](providers.md) is a part of Perch that reads from one source.
- An [allowance](keys.md) is the maximum number of reads (or of pictures) for one caller in a period.
- A [session](sessions.md) is a series of questions and answers. A stream is a response that sends the events of a
  session.

| variable | default | description |
| --- | --- | --- |
${rows.join('\n')}

This page is generated from \`src/config/config.ts\` by \`npm run generate\`.
`;
}

function listSecrets(): string {
  const names = secretNames().map((name) => `\`${fileVariableOf(name)}\``);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function listVariables(): readonly ManVariable[] {
  return Object.entries(variables.shape).map(([name, schema]) => ({
    name,
    byDefault: defaultOf(schema),
    description: `${schema.description}${choiceOf(schema)}${fileOf(name, schema)}`,
  }));
}

/** Returns a sentence that lists the allowed values of an enumeration; an empty string for other types. */
function choiceOf(schema: z.ZodType): string {
  const inner = schema instanceof z.ZodDefault ? schema.def.innerType : schema;
  if (!(inner instanceof z.ZodEnum)) return '';
  return ` Allowed values: ${inner.options.map((value) => `\`${value}\``).join(', ')}.`;
}

/**
 * Returns a sentence that explains how to read a secret setting from a file: with the variable
 * `NAME_FILE`. Returns an empty string for a setting that is not secret.
 */
function fileOf(name: string, schema: z.ZodType): string {
  if (!isSecret(schema)) return '';
  return ` To read this value from a file, set \`${fileVariableOf(name)}\` instead.`;
}

function errorsPage(): string {
  const rows = Object.entries(problemKinds).map(
    ([code, { status, when }]) => `| ${status} | [\`${code}\`](#${code}) | ${when} |`,
  );
  const entries = Object.entries(problemKinds).map(
    ([code, { status, title, when, resolution }]) =>
      `## ${code}\n\nStatus ${status}, “${title}”. Perch returns this error if ${when}.\n\n${resolution}\n`,
  );
  return `# Errors

In your programs, handle errors by their \`code\`, such as \`invalid_path\`. Perch reports errors in JSON, as problem documents
([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)). Programs receive errors with the media type
\`application/problem+json\`, regardless of the \`Accept\` header:

\`\`\`sh
curl -s 'http://localhost:8080/api/v1/posts?url=https://x.com/jack'
\`\`\`

\`\`\`
{…,"status":400,"detail":"The parameter \`url\` has the value \\"https://x.com/jack\\", which is not the URL of a post.",…,"code":"invalid_path","param":"url","resolution":"This is the URL of an account. …"}
\`\`\`

The meaning and the status of a \`code\` never change. \`param\` is the name of the parameter at fault, or of the member of
the request body. It is absent if the error does not concern a parameter. \`detail\` explains the cause of the error.
\`resolution\` explains the next step. These two texts are for people, and can change. If the response has a
\`Retry-After\` header, the member \`retry_after\` of the error contains the same number of seconds. Error responses have \`Cache-Control: no-store\`. If a
message to [\`/mcp\`](mcp.md) is not valid, Perch returns a JSON-RPC error instead of a problem document.

With \`format=html\`, Perch returns errors at the short paths of posts, profiles and lists, such as \`/jack/status/20\`
and \`/jack\`, at \`/search\`, and at paths that are a whole URL, as web pages with the same status and headers. Under
\`/api\`, errors are always problem documents.

In a browser, Perch also returns these errors as web pages:

- \`route_not_found\` for unknown paths outside \`/api\`, \`/mcp\`, \`/svc\` and \`/.well-known\`
- all errors at \`/\`, \`/docs\` and \`/admin\`, and at paths under \`/docs\` and \`/admin\`
- with \`PERCH_BROWSER_PAGES=true\`, errors at the short paths of posts and profiles, such as \`/jack/status/20\` and
  \`/jack\`, and at \`/search\`

Perch recognizes a browser by an \`Accept\` header that prefers \`text/html\`, with \`Sec-Fetch-Mode: navigate\` or without
\`Sec-Fetch-Mode\`, which browsers do not send over plain HTTP.

This page uses these terms:

- An upstream is a server that Perch reads from, such as a Mastodon server.
- A [provider](providers.md) is a part of Perch that reads from one source, such as Bluesky or imported posts.
- A read is a request for a post, a profile, a list or a search. An [allowance](keys.md) is the number of reads that a
  caller can send in a period.
- A [session](sessions.md) is a series of questions and answers. A turn is one question with its answer. A continuation
  token is the secret that a client sends with follow-up questions.
- The operator is the person who runs the Perch server. The operator uses the [admin routes](admin.md).

## All error codes

The rows from \`missing_message\` to the end of the table are errors of sessions.

| status | \`code\` | cause |
| --- | --- | --- |
${rows.join('\n')}

${entries.join('\n')}
This page is generated from \`src/lib/problem.ts\` by \`npm run generate\`.
`;
}
