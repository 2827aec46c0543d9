import fc from 'fast-check';

const SURROGATES = 0x800;

/** Any character of Unicode. Making `unit: 'binary'` instead costs a second of CPU a process. */
export const CHARACTER: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + SURROGATES));
