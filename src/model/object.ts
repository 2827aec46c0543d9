/** Whether a value is an object as JSON has them: keys with values, no list and no null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
