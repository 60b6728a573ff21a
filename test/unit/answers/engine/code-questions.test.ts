import { expect, it, onTestFinished } from 'vitest';
import { askAboutCode, openRepository } from '../../../../bench/answers/code.ts';

it('cites the right file first, and begins with the place of a declaration, for nine of ten questions', async () => {
  const results = await askAboutCode();
  const answerable = results.filter(({ file }) => file !== null);
  const places = results.filter(({ code }) => code !== undefined);
  const wrong = answerable.filter((one) => !one.isFirst).map(({ question }) => question);
  const misplaced = places.filter((one) => !one.isPlace).map(({ question }) => question);

  expect(new Set(results.map(({ repository }) => repository)).size).toBe(5);
  expect(wrong.length / answerable.length, wrong.join('\n')).toBeLessThanOrEqual(0.1);
  expect(misplaced.length / places.length, misplaced.join('\n')).toBeLessThanOrEqual(0.1);
});

it.each([
  ['typescript', 'show me the Context class', 'src/context.ts:2'],
  ['typescript', 'Courier.get method', 'src/courier.ts:13'],
  ['typescript', 'in which file is onError declared', 'src/courier.ts:11'],
  ['typescript', "who throws 'Gave up after'", 'src/client/fetch-with-retry.ts:23'],
  ['python', 'wo ist Worker', 'drover/worker.py:12'],
  ['python', 'wo wird JobFailed definiert', 'drover/errors.py:8'],
  ['python', 'which function raises BrokerUnavailable', 'drover/brokers/redis.py:20'],
  ['ruby', 'Folio::Deployer::Settings', 'lib/folio/deployer.rb:8'],
  ['ruby', 'find definition of slugify', 'lib/folio/filters.rb:19'],
  ['go', 'store.Compact', 'internal/store/compact.go:6'],
  ['go', 'func Open', 'internal/store/store.go:42'],
  ['go', 'the Command struct', 'internal/cli/cli.go:11'],
  ['rust', 'where is Filter', 'src/filter/mod.rs:10'],
  ['rust', 'offset field of Position', 'src/follow.rs:23'],
])('begins with the place in the %s repository for “%s”', async (name, question, place) => {
  const { ask, close } = await openRepository(name);
  onTestFinished(close);

  const { text } = await ask(question);

  expect(text.split('\n', 1)).toEqual([`\`${place}\``]);
});

it('cites tests first only if a question asks for tests', async () => {
  const { ask, close } = await openRepository('rust');
  onTestFinished(close);

  const first = async (question: string) => (await ask(question)).citations[0]?.file;

  expect(await first('which test covers the closing quotation mark')).toBe('tests/filter.rs');
  expect(await first('where is the Follower struct')).toBe('src/follow.rs');
});

it('cites documentation first if a question asks how to do something', async () => {
  const { ask, close } = await openRepository('ruby');
  onTestFinished(close);

  const { citations } = await ask('how can I add my own filter');

  expect(citations[0]?.file).toBe('docs/templates.adoc');
});
