const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const WHOLE = /^\+?\d+$/;

/**
 * Reads a finite decimal number, white space around it allowed. Hexadecimal and the names of
 * infinities, which `Number` would take, are none.
 */
export function parseDecimal(text: string): number | undefined {
  const trimmed = text.trim();
  if (!DECIMAL.test(trimmed)) return undefined;
  // adding zero turns -0 into 0
  const value = Number(trimmed) + 0;
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Reads a whole number, 0 or more, white space around it allowed; infinite where it is too long.
 */
export function parseWhole(text: string): number | undefined {
  const trimmed = text.trim();
  return WHOLE.test(trimmed) ? Number(trimmed) : undefined;
}
