const UNITS = ['', 'k', 'M', 'G'] as const;

/** A count in four characters at most, rounded: `999`, `1.2k`, `35k`, `1.1M`. */
export function abbreviate(count: number): string {
  if (count < 1000) return String(count);
  let scaled = count;
  let unit = 0;
  // a rounded `1000k` is `1M`
  while (unit < UNITS.length - 1 && Math.round(scaled) >= 1000) {
    scaled /= 1000;
    unit++;
  }
  const digits = scaled < 9.95 ? 1 : 0;
  return Number(scaled.toFixed(digits)) + UNITS[unit]!;
}
