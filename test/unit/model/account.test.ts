import { describe, expect, it } from 'vitest';
import { toWebsite } from '../../../src/model/account.ts';

describe('the website of an account', () => {
  it.each([
    ['https://light.example/about', 'light.example/about'],
    ['http://light.example/', 'light.example'],
    ['HTTPS://light.example', 'light.example'],
    ['light.example', 'light.example'],
    ['https://', 'https://'],
  ])('displays %s as %s if the source has no display form', (url, display) => {
    expect(toWebsite(url)).toEqual({ url, display_url: display });
  });

  it('is null if there is none', () => {
    expect(toWebsite(null)).toBeNull();
    expect(toWebsite('')).toBeNull();
  });
});
