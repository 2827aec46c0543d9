/**
 * A snapshot, notifications or settings file that cannot be used: the message names the file, what
 * is wrong and, where there is one, the way out. Shown to people as it is, without a stack.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}
