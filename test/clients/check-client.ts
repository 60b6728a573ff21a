import { checkAnswered } from './answered-checks.ts';
import { loadEve } from './eve.ts';
import { isAtLeast } from './release.ts';
import { createReport } from './report.ts';
import { checkSilent } from './silent-checks.ts';

/**
 * Tests one published client with a server, in a separate process, because the wrapper replaces the global
 * `fetch`. Arguments: folder of the client, its release, URL of the server, kind of checks (`answered` or
 * `silent`), and title for the output. The exit code is 1 if a check fails.
 */
const [folder = '', release = '', host = '', kind = '', title = ''] = process.argv.slice(2);

const streams = { opened: 0 };
const before = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (new URL(url).pathname.endsWith('/stream')) streams.opened += 1;
  return before(input, init);
};

const report = createReport(`eve ${release}, ${title}`);
try {
  const eve = await loadEve({ folder, name: `eve-${release}` }, host);
  if (kind === 'silent') await checkSilent(eve, report, streams);
  else await checkAnswered(eve, report, { matchesDeliveries: isAtLeast(release, '0.52.3') });
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// Abandoned streams would keep the process alive until the server ends them.
process.exit();
