import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpFault, openFaultyHttp } from '../support/faulty-http.ts';
import { listen, upstream } from '../support/listen.ts';
import { runHere } from '../support/run-here.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

const sessionsOn = { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false' };

async function ask(...args: string[]) {
  const env = { PERCH_DATA_DIR: ':memory:' };
  const { code, stdout: out, stderr: err } = await runHere(['ask', ...args], env);
  return { code, out, err };
}

describe('perch ask --url', () => {
  it('asks the server, and prints its answer', async () => {
    const engine = createScriptedEngine();
    const { url } = await listen(sessionsOn, { engine });

    const plain = await ask('one', '--url', url);
    const json = await ask('two', '--url', `${url}/`, '--json');

    expect(plain).toEqual({ code: 0, out: 'The answer to “one”.\n', err: '' });
    expect(JSON.parse(json.out)).toMatchObject({
      message: 'The answer to “two”.',
      abstained: false,
      sessionId: expect.stringMatching(/^ses_/),
    });
    expect(engine.asked.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('asks once, and prints the whole answer, if connections are lost', async () => {
    const engine = createScriptedEngine();
    const { port } = await listen(sessionsOn, { engine });
    const faults: HttpFault[] = [
      { kind: 'reset', bytes: 0 },
      { kind: 'none' },
      { kind: 'end', bytes: 1500 },
    ];
    const proxy = await openFaultyHttp(port, () => faults.shift() ?? { kind: 'none' });
    onTestFinished(() => proxy.close());

    const { code, out } = await ask('one', '--url', proxy.url);

    expect({ code, out }).toEqual({ code: 0, out: 'The answer to “one”.\n' });
    expect(engine.asked).toHaveLength(1);
    expect(proxy.counts).toMatchObject({ reset: 1, end: 1 });
  });

  it('reports that the server has no sessions, with exit code 2', async () => {
    const { url } = await listen({ PERCH_PROVIDERS: 'archive', PERCH_SESSIONS: 'off' });

    expect(await ask('one', '--url', url)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^perch: .*\.\n$/),
    });
  });

  it('reports that another kind of server responds, with exit code 3', async () => {
    const { url } = await upstream((_, response) => {
      response.writeHead(404).end('nothing here');
    });

    const { code, err } = await ask('one', '--url', url);

    expect(code).toBe(3);
    expect(err).toBe(
      'perch: The response has the status 404, and is not an error of Perch. Check the address in --url, or ask again.\n',
    );
  });

  it.each([
    [['--url', 'perch.example.org'], '--url must be the address of a server'],
    [['--url', 'ftp://perch.example.org'], '--url must be the address of a server'],
    [['--url', 'http://a.example', '--session', 'new'], '--url and --session cannot be used'],
    [['--url', 'http://a.example', '--corpus', '.'], '--url and --corpus cannot be used'],
  ])('refuses %j', async (args, words) => {
    const { code, err } = await ask('one', ...args);

    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});
