import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonicalTarget } from '../../../src/routes/route.ts';

describe('toCanonicalTarget', () => {
  it.each([
    ['/', '/'],
    ['//', '/'],
    ['/?q=//a/', '/?q=//a/'],
    ['//?q=a', '/?q=a'],
    ['/wren/', '/wren'],
    ['//wren///status//5//?a=b//', '/wren/status/5?a=b//'],
    ['/wren/#//', '/wren#//'],
    ['/%2Fadmin', '/%2Fadmin'],
    ['/wren%2F', '/wren%2F'],
    ['/https://x.com//wren/?a', '/https://x.com//wren/?a'],
    ['///https://x.com//wren/', '/https://x.com//wren/'],
    ['//HTTP:/x.com//wren', '/HTTP:/x.com//wren'],
    ['//at://did:plc:abc//x', '/at://did:plc:abc//x'],
    ['//https%3A%2F%2Fx.com/', '/https%3A%2F%2Fx.com'],
    ['//example.org:8080//wren', '/example.org:8080/wren'],
    ['http://perch.example//wren/', '/wren'],
    ['http://perch.example', '/'],
    ['http://perch.example?q=1', '/?q=1'],
    ['http://perch.example/https://x.com/wren/', '/https://x.com/wren/'],
    ['*', '*'],
    ['', ''],
  ])('turns %s into %s', (target, canonical) => {
    expect(toCanonicalTarget(target)).toBe(canonical);
  });

  it('changes nothing at the second time', () => {
    const parts = fc.constantFrom('/', '//', 'a', 'https:', 'http://', '?', '#', '%2F', '*', '.');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (list) => {
        const canonical = toCanonicalTarget(`/${list.join('')}`);
        expect(toCanonicalTarget(canonical)).toBe(canonical);
        expect(canonical.startsWith('/')).toBe(true);
      }),
    );
  });
});
