import { generateKeyPairSync, sign } from 'node:crypto';

/** Private key and self-signed certificate as PEM. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** Creates a certificate for a name, valid from 2000 to 2049 (X.509 version 1, RFC 5280 §4.1). */
export function createSelfSigned(name: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonName = Buffer.from('0603550403', 'hex');
  const named = der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from(name)))));
  const times = ['000101000000Z', '491231235959Z'].map((time) => der(0x17, Buffer.from(time)));
  const toSign = der(
    0x30,
    der(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    named,
    der(0x30, ...times),
    named,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', toSign, privateKey));
  const body = der(0x30, toSign, ecdsaWithSha256, signature).toString('base64');
  const lines = body.replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** Encodes an ASN.1 value of less than 64 KiB (X.690 §8.1). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
