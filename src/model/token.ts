/** Whether a text can be an access token: such a token stands in a header without quotes. */
export function isToken(text: string): boolean {
  return /^\S+$/.test(text);
}
