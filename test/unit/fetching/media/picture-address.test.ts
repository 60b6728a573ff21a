import { describe, expect, it } from 'vitest';
import { createPictureAddresses } from '../../../../src/fetching/media/picture-address.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { hostileAuthorities } from '../../../support/hostile-hosts.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { pictureSecret, signPicture } from '../../../support/signed-picture.ts';

const dayMs = 86_400_000;
const baseUrl = 'https://perch.example.org';
const secret = Buffer.from(pictureSecret);
const url = 'https://files.example.org/heron.png?size=large';

function create(base = baseUrl) {
  const clock = createManualClock();
  const addresses = createPictureAddresses({ secret, baseUrl: base, clock });
  const sign = (given: string) => {
    const signed = addresses.toPictureUrl(given);
    if (signed === null) throw new Error(`${given} is not signed.`);
    return signed;
  };
  const parse = (signed: string) => addresses.parse(signed.split('/').at(-1) ?? '');
  return { clock, addresses, sign, parse };
}

describe('the address of a picture', () => {
  it('names the picture and the expiry', () => {
    const { clock, sign, parse } = create();

    const { url: parsed, expiresMs } = parse(sign(url));

    expect(parsed.href).toBe(url);
    const days = (expiresMs - clock.now()) / dayMs;
    expect(days).toBeGreaterThan(90);
    expect(days).toBeLessThanOrEqual(120);
  });

  it('has the documented form', () => {
    const { sign, parse } = create();
    const signed = sign(url);
    const day = parse(signed).expiresMs / dayMs;

    expect(signed).toBe(`${baseUrl}${signPicture(url, { day })}`);
  });

  it('stays the same for up to 30 days, and then is valid for 90 days more', async () => {
    const { clock, sign, parse } = create();
    const first = sign(url);
    let days = 0;
    for (; sign(url) === first && days < 40; days += 1) await clock.advance(dayMs);

    expect(days).toBeLessThanOrEqual(30);
    await clock.advance(89 * dayMs);
    expect(parse(first).url.href).toBe(url);
    await clock.advance(dayMs);
    expect(() => parse(first)).toThrow('has expired');
  });

  it('does not depend on the fragment', () => {
    const { sign } = create();

    expect(sign(`${url}#part`)).toBe(sign(url));
  });

  const unsigned: readonly (readonly [string, string])[] = [
    ['http', 'http://files.example.org/a.png'],
    ['data', 'data:image/png;base64,AAAA'],
    ['a script', 'javascript:alert(1)'],
    ['no URL', 'heron.png'],
    ['nothing', ''],
    ['a long URL', `https://files.example.org/${'a'.repeat(2000)}`],
    ['this server', `${baseUrl}/admin`],
    ['this server by a detour', `${baseUrl}/media/../admin`],
    ...hostileAuthorities.map(([name, authority]) => [name, `https://${authority}/`] as const),
  ];

  it.each(unsigned)('does not exist for %s: %s', (_, given) => {
    expect(create().addresses.toPictureUrl(given)).toBeNull();
  });

  it.each([baseUrl, 'http://localhost:8080', 'https://perch.example.org/base'])(
    'is the given one if this server has the picture: %s',
    (base) => {
      const copy = `${base}/media/sha256/0123`;

      expect(create(base).addresses.toPictureUrl(copy)).toBe(copy);
    },
  );
});

describe('a changed address', () => {
  it('is refused, whichever character is changed', () => {
    const { sign, parse } = create();
    const signed = sign(url).split('/').at(-1) ?? '';
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

    for (let at = 0; at < signed.length; at += 1) {
      for (const letter of letters) {
        if (letter === signed[at]) continue;
        const changed = `${signed.slice(0, at)}${letter}${signed.slice(at + 1)}`;
        expect(() => parse(changed), changed).toThrow('not an address');
      }
    }
  });

  it('is refused with more or fewer characters, and in another encoding', () => {
    const { sign, parse } = create();
    const signed = sign(url).split('/').at(-1) ?? '';
    const standard = Buffer.from(signed, 'base64url').toString('base64');

    for (const changed of [`${signed}A`, `${signed}=`, signed.slice(1), signed.slice(0, -1)]) {
      expect(() => parse(changed), changed).toThrow('not an address');
    }
    if (standard !== signed) expect(() => create().addresses.parse(standard)).toThrow();
  });

  it('is refused without an error of another kind, whatever it contains', () => {
    const { addresses } = create();

    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(() => addresses.parse(text)).toThrow('not an address');
      }),
      { numRuns: runs(500) },
    );
  });
});
