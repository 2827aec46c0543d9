import fc from 'fast-check';
import { rounds } from './uvu.js';

const SURROGATES = 0x800;

/** Any character of Unicode. Making `unit: 'binary'` instead costs a second of CPU a process. */
export const CHARACTER: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + SURROGATES));

/** Asserts a property of random values of these kinds, in as many rounds as `rounds` makes of it. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  many: number,
  kinds: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  property: (...values: Values) => void,
): void {
  fc.assert(fc.property(...kinds, property), { numRuns: rounds(many) });
}
