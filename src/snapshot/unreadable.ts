import { InputError } from '../errors.js';

/** The error for a file that the system does not let us read. */
export function unreadable(path: string, error: unknown): InputError {
  const { code, message } = error as NodeJS.ErrnoException;
  let reason = message;
  if (code === 'ENOENT') reason = 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') reason = 'no permission';
  return new InputError(`${path}: cannot be read: ${reason}`, { cause: error });
}
