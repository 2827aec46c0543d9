import * as assert from 'uvu/assert';

/**
 * Asserts that two lists of numbers are the same, and shows the first difference: a diff of
 * thousands of lines would take minutes.
 */
export function assertSame(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  label: string,
): void {
  assert.is(actual.length, expected.length, `${label}: length`);
  for (let i = 0; i < expected.length; i++) {
    if (actual[i] !== expected[i]) assert.is(actual[i], expected[i], `${label}: item ${i}`);
  }
}
