import { expect, it } from 'vitest';
import { createCleanupStack } from '../../../../src/lib/scheduling/cleanup-stack.ts';

it('closes resources once, in reverse order, one after the other', async () => {
  const closed: string[] = [];
  const closing = createCleanupStack();
  closing.add(() => closed.push('first'));
  closing.add(async () => {
    await Promise.resolve();
    closed.push('second');
  });

  await Promise.all([closing.close(), closing.close()]);
  await closing.close();

  expect(closed).toEqual(['second', 'first']);
});

it('closes the others if one cannot be closed, and throws the first error', async () => {
  const closed: string[] = [];
  const closing = createCleanupStack();
  closing.add(() => closed.push('first'));
  closing.add(() => Promise.reject(new Error('later')));
  closing.add(() => {
    throw new Error('sooner');
  });

  await expect(closing.close()).rejects.toThrow('sooner');

  expect(closed).toEqual(['first']);
});
