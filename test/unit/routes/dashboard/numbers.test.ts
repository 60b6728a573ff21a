import { describe, expect, it } from 'vitest';
import {
  countOf,
  formatBytes,
  formatDuration,
  formatMs,
  formatShare,
  renderPast,
} from '../../../../src/routes/dashboard/numbers.ts';

describe('numbers of the dashboard', () => {
  it.each([
    [0, '0 posts'],
    [1, '1 post'],
    [12_345, '12,345 posts'],
  ])('counts %i as %s', (count, text) => {
    expect(countOf(count, 'post')).toBe(text);
  });

  it.each([
    [0, '0 bytes'],
    [1023, '1,023 bytes'],
    [1024, '1 KiB'],
    [1_310_720, '1.25 MiB'],
    [52_953_088, '50.5 MiB'],
    [1_048_575, '1 MiB'],
    [365_072_220_160, '340 GiB'],
    [5e15, '4,547 TiB'],
  ])('formats %i bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, 0, null],
    [0, 8, '0%'],
    [1, 100_000, 'less than 0.1%'],
    [4, 1000, '0.4%'],
    [1, 8, '13%'],
    [9999, 10_000, '99%'],
    [8, 8, '100%'],
  ])('formats %i of %i as %s', (part, whole, text) => {
    expect(formatShare(part, whole)).toBe(text);
  });

  it.each([
    [-5, '0 s'],
    [8_900, '8 s'],
    [125_000, '2 min 5 s'],
    [7_200_000, '2 h'],
    [273_600_000, '3 d 4 h'],
  ])('formats %i ms as the duration %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [0.42, '0.4 ms'],
    [35.4, '35 ms'],
    [2120, '2.1 s'],
  ])('formats %d ms as the delay %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });

  it('renders times in UTC, with their distance from now', () => {
    const atMs = Date.UTC(2026, 10, 1, 9, 5, 7);

    expect(String(renderPast(atMs, atMs + 480_000))).toBe(
      '<time datetime="2026-11-01T09:05:07Z">2026-11-01&nbsp;09:05&nbsp;UTC</time> (8 min ago)',
    );
    expect(String(renderPast(atMs, atMs - 5))).toContain('(now)');
  });
});
