import { chmodSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { healthySettings, otherUser, runDoctor, withFxTwitter } from '../support/doctor-rig.ts';
import { freePort } from '../support/engine-server.ts';
import { fakeModel } from '../support/fake-model.ts';
import { answerText, hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const missing = JSON.stringify({ code: 404, message: 'User not found' });

describe('perch doctor finds a provider', () => {
  it.each([
    [401, 'fault: fxtwitter cannot be used', '(status 401)'],
    [500, 'fault: fxtwitter cannot be used', '(status 500)'],
    [429, 'warning: fxtwitter limits the rate', '(status 429)'],
  ])('that answers with the status %d', async (status, start, detail) => {
    const { url } = await upstream((_request, response) => response.writeHead(status).end());

    const { of } = await runDoctor(await withFxTwitter(url));

    expect(of('providers').startsWith(start)).toBe(true);
    expect(of('providers')).toContain(detail);
  });

  it('that is down', async () => {
    const { of, code } = await runDoctor(
      await withFxTwitter(`http://127.0.0.1:${await freePort()}`),
    );

    expect(code).toBe(1);
    expect(of('providers')).toMatch(/^fault: fxtwitter cannot be used \(ECONNREFUSED\)\. .+ Check/);
    expect(of('providers')).toContain('remove fxtwitter from PERCH_PROVIDERS');
    expect(of('clock')).toMatch(/^warning: The clock cannot be compared/);
  });

  it('that is slow', async () => {
    const { url } = await upstream((_request, response) => {
      setTimeout(
        () => answerText(response, { type: 'application/json', text: missing }, { status: 404 }),
        1700,
      );
    });

    const { of, code } = await runDoctor(await withFxTwitter(url));

    expect(code).toBe(0);
    expect(of('providers')).toMatch(/^warning: fxtwitter answered only after \d\.\d seconds/);
  });

  it('that never answers', async () => {
    const { url } = await upstream(hang);
    const env = { ...(await withFxTwitter(url)), PERCH_ATTEMPT_TIMEOUT_MS: '300' };

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('providers')).toContain('The source did not answer in time.');
  });
});

describe('perch doctor finds a clock', () => {
  it.each([
    ['right', 0, /^ok: The clock agrees/],
    [
      'seconds behind',
      20_000,
      /^warning: .+ is 20 seconds behind the clocks of the platforms\. Turn on/,
    ],
    ['hours behind', 7_200_000, /^fault: .+ 7200 seconds behind/],
    ['hours ahead', -7_200_000, /^fault: .+ 7200 seconds ahead of/],
  ])('that is %s', async (_, shiftMs, expected) => {
    const { url } = await upstream((_request, response) => {
      const date = new Date(Date.now() + shiftMs + 500).toUTCString();
      const type = 'application/json';
      response.writeHead(404, { 'content-type': type, date }).end(missing);
    });

    const { of } = await runDoctor(await withFxTwitter(url));

    expect(
      of('clock')
        .replace(/ (?:19|21) sec/, ' 20 sec')
        .replace(/ (?:7199|7201) /, ' 7200 '),
    ).toMatch(expected);
    expect(of('providers')).toMatch(/^ok: fxtwitter answered in/);
  });
});

describe('perch doctor finds documents', () => {
  const diagnose = async (path: string, uid?: number) => {
    const env = await healthySettings();
    const { of, code } = await runDoctor(
      { ...env, PERCH_CORPUS: path, ...(uid !== undefined && { PERCH_DATA_DIR: ':memory:' }) },
      { uid },
    );
    return `${code} ${of('corpus')}`;
  };

  it('that are missing', async () => {
    expect(await diagnose('/nowhere/docs')).toMatch(
      /^1 fault: .+There is no folder or file \/nowhere\/docs\. Correct PERCH_CORPUS\.$/,
    );
  });

  it('that the user may not read', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, otherUser === undefined ? 0 : 0o700);

    expect(await diagnose(folder, otherUser)).toMatch(
      /^1 fault: .+cannot read 1 of its files or folders\. Give this user acc/,
    );
    chmodSync(folder, 0o700);
  });

  it('of which the user may not read some', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    writeFileSync(`${folder}/a.md`, '# A');
    writeFileSync(`${folder}/b.md`, '# B', { mode: otherUser === undefined ? 0 : 0o600 });

    expect(await diagnose(folder, otherUser)).toMatch(
      /^0 warning: .+cannot read 1 of its files or folders\. .+chmod -R/,
    );
  });

  it('in no known format', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/a.png`, '');

    expect(await diagnose(folder)).toMatch(/^0 warning: .+ contains no documents in a format/);
  });
});

describe('perch doctor finds a language model', () => {
  const diagnose = async (url: string, limits: Record<string, string> = {}) => {
    const env = await healthySettings();
    const model = { PERCH_MODEL_URL: url, PERCH_MODEL: 'small:7b', PERCH_MODEL_KEY: 'key' };
    const { of, code } = await runDoctor({ ...env, ...model, ...limits });
    return `${code} ${of('model')}`;
  };
  const refusing = async (status: number) => {
    const body = { type: 'application/json', text: '{"error":{"message":"no"}}' };
    return (await fakeModel((exchange) => exchange.reply(body, status))).url;
  };

  it('that answers', async () => {
    const { url, requests } = await fakeModel((exchange) => {
      exchange.say('OK');
      exchange.finish();
    });

    expect(await diagnose(url)).toMatch(
      /^0 ok: The language model small:7b at 127\.0\.0\.1 answers/,
    );
    expect(requests).toMatchObject([{ model: 'small:7b', authorization: 'Bearer key' }]);
  });

  it('that is down', async () => {
    expect(await diagnose(`http://127.0.0.1:${await freePort()}/v1`)).toMatch(
      /^1 fault: .+could not be reached.+Start the server of the model, or correct PERCH_MODEL_URL/,
    );
  });

  it.each([
    [401, /^1 fault: .+answered 401\. .+ Correct PERCH_MODEL_KEY\./],
    [404, /^1 fault: .+answered 404\. The model is small:7b at .+ Correct PERCH_MODEL, or/],
    [429, /^0 warning: .+answered 429\. .+ Check your account/],
    [500, /^1 fault: .+answered 500/],
  ])('that answers with the status %d', async (status, expected) => {
    expect(await diagnose(await refusing(status))).toMatch(expected);
  });

  it('that does not answer in time', async () => {
    const { url } = await fakeModel(() => {});

    expect(await diagnose(url, { PERCH_MODEL_STALL_SECONDS: '1' })).toMatch(
      /^0 warning: .+took more than 1 seconds\. .+ If the/,
    );
  });
});

describe('perch doctor finds an engine', () => {
  it('that is down', async () => {
    const env = await healthySettings();
    const port = await freePort();

    const { of, code } = await runDoctor({ ...env, PERCH_REDIS_URL: `redis://127.0.0.1:${port}` });

    expect(code).toBe(1);
    expect(of('engine')).toBe(
      `fault: The shared engine at 127.0.0.1:${port} does not answer: connect ECONNREFUSED. Start it, or correct PERCH_REDIS_URL.`,
    );
  });
});
