/**
 * The values of a list with commas between them. `\,` is a comma and `\\` a backslash that belong to
 * a value; any other backslash stands for itself.
 */
export function splitList(list: string): string[] {
  if (!list.includes('\\')) return list.split(',');
  const values: string[] = [];
  let value = '';
  for (let at = 0; at < list.length; at++) {
    if (list[at] === ',') {
      values.push(value);
      value = '';
      continue;
    }
    const isEscape = list[at] === '\\' && (list[at + 1] === '\\' || list[at + 1] === ',');
    value += list[isEscape ? ++at : at];
  }
  return [...values, value];
}

/** Writes values as a list that {@link splitList} splits into the same values. */
export function joinList(values: readonly string[]): string {
  return values.map((value) => value.replaceAll(/[\\,]/g, '\\$&')).join(',');
}
