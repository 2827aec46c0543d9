const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,5}))?$/;
const EIGHT_DIGITS = /^-?(?:0|[1-9]\d{0,2})\.\d{8}$/;
/** What needs zeros behind it, and nothing else. */
const FEWER_DIGITS = /^-?(?:0|[1-9]\d{0,2})\.\d{1,7}$/;

/**
 * A decimal number written with exactly eight digits after the point, rounded half-even.
 * Undefined when `text` is no finite decimal number.
 */
export function toEightDigits(text: string): string | undefined {
  if (EIGHT_DIGITS.test(text)) return text;
  if (FEWER_DIGITS.test(text)) return text.padEnd(text.indexOf('.') + 9, '0');
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  if (whole.length + fraction.length === 0) return undefined;

  // the value is `digits` × 10^-scale
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > 400 || whole.length + fraction.length > 400) return undefined;
  const units = scaleHalfEven(BigInt(whole + fraction), scale - 8);
  const padded = units.toString().padStart(9, '0');
  return `${sign === '-' ? '-' : ''}${padded.slice(0, -8)}.${padded.slice(-8)}`;
}

/** `digits` ÷ 10^places, to the nearest whole number, ties to the even one. */
function scaleHalfEven(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places);
  const divisor = 10n ** BigInt(places);
  const quotient = digits / divisor;
  const doubled = (digits % divisor) * 2n;
  const roundUp = doubled > divisor || (doubled === divisor && quotient % 2n === 1n);
  return roundUp ? quotient + 1n : quotient;
}
