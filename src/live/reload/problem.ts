import { InputError } from '../../errors.js';

/** Codes of the system that say something of the file; with any other it may well be fine. */
const OF_THE_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM']);

/**
 * Whether something was wanting to find out what is in a file: memory, a file descriptor, a disk that works. Such an
 * error is no verdict on the file.
 */
export function isWant(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) return !OF_THE_FILE.has(code);
  }
  return !(error instanceof InputError);
}

/** What an error says of the file at the path. */
export function problemText(error: unknown, path: string): string {
  if (error instanceof InputError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: there is no such file`;
  if (code === 'EACCES') return `${path}: no permission to read it`;
  return message.startsWith(path) ? message : `${path}: ${message}`;
}
