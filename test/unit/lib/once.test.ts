import { expect, it, vi } from 'vitest';
import { once } from '../../../src/lib/once.ts';

it('makes a value at the first call only', () => {
  const make = vi.fn(() => undefined);
  const read = once(make);

  expect(make).not.toHaveBeenCalled();

  read();
  read();

  expect(make).toHaveBeenCalledTimes(1);
});

it('tries again if it could not make the value', () => {
  const make = vi.fn().mockImplementationOnce(() => {
    throw new Error('not yet');
  });
  const read = once(make.mockReturnValue('ready'));

  expect(read).toThrow('not yet');
  expect(read()).toBe('ready');
});
