import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { type FakeInternet, siteAddresses } from '../support/fake-internet.ts';
import { answerRedirect } from '../support/fake-upstream.ts';
import { hostileAnswers, hostileAuthorities } from '../support/hostile-hosts.ts';
import { buildPictureRig, pictureHost, png } from '../support/picture-rig.ts';
import { signPicture } from '../support/signed-picture.ts';

const [siteAddress] = siteAddresses;

/** Checks that only the site was contacted. */
function expectNothingReached({ connectedTo, trap }: FakeInternet): void {
  expect(connectedTo.filter((target) => target !== `${siteAddress} 443`)).toEqual([]);
  expect(trap.connections).toBe(0);
}

// The signatures are valid, so only the guard of the addresses can refuse these requests.
describe('a signed address', () => {
  clause('read.pictures.public_hosts')('reaches nothing if its host is not public', async () => {
    const rig = await buildPictureRig();

    for (const [name, authority] of hostileAuthorities) {
      const reply = await rig.app.request(signPicture(`https://${authority}/a.png`));
      expect([403, 404, 502, 503], name).toContain(reply.statusCode);
    }

    expect(rig.internet.connectedTo).toEqual([]);
    expectNothingReached(rig.internet);
  });

  clause('read.pictures.public_hosts')(
    'reaches nothing if its host resolves to an address that is not public',
    async () => {
      const hosts = hostileAnswers.map(([name, addresses], at) => {
        return { name, addresses, host: `evil-${at}.example.org` };
      });
      const names = Object.fromEntries(hosts.map(({ host, addresses }) => [host, addresses]));
      const rig = await buildPictureRig({ names });

      for (const { name, host } of hosts) {
        const reply = await rig.app.request(signPicture(`https://${host}/a.png`));
        expect([name, reply.statusCode, reply.json().code]).toEqual([
          name,
          503,
          'upstream_unavailable',
        ]);
      }

      expect(rig.internet.connectedTo).toEqual([]);
      expectNothingReached(rig.internet);
    },
  );

  const redirects: readonly (readonly [string, string])[] = [
    ...hostileAuthorities.map(([name, authority]) => [name, `https://${authority}/`] as const),
    ['another public host', 'https://other.example.org/'],
    ['http', `http://${pictureHost}/`],
    ['another port', `https://${pictureHost}:8443/`],
    ['a file', 'file:///etc/passwd'],
    ['data', 'data:image/png,a'],
    ['an address without a scheme', '//127.0.0.1/'],
  ];

  clause('read.pictures.public_hosts')('reaches nothing by a redirect', async () => {
    const targets = new Map(redirects.map(([, location], at) => [`/${at}.png`, location]));
    const rig = await buildPictureRig({
      names: { 'other.example.org': [siteAddress] },
      onPicture: ({ url = '' }, response) =>
        answerRedirect(response, Buffer.from(targets.get(url) ?? '').toString('latin1')),
    });

    for (const [at, [name]] of redirects.entries()) {
      const reply = await rig.app.request(signPicture(`https://${pictureHost}/${at}.png`));
      expect([502, 503], name).toContain(reply.statusCode);
    }

    expect(rig.picturesAsked()).toEqual([...targets.keys()]);
    expectNothingReached(rig.internet);
  });

  it('follows a redirect within the host, and checks its address again', async () => {
    const rig = await buildPictureRig({
      names: { [pictureHost]: (nth) => [nth === 0 ? siteAddress : '127.0.0.1'] },
      onPicture: ({ url }, response) => {
        response.setHeader('connection', url === '/a.png' ? 'close' : 'keep-alive');
        if (url === '/b.png') response.writeHead(200).end(png);
        else answerRedirect(response, '/b.png');
      },
    });

    const reply = await rig.app.request(signPicture(`https://${pictureHost}/a.png`));

    expect(reply.json().code).toBe('upstream_unavailable');
    expect(rig.picturesAsked()).toEqual(['/a.png']);
    expectNothingReached(rig.internet);
  });
});
