import { statSync } from 'node:fs';
import { InputError } from '../errors.js';

/** Checks that the folder of images is one. Throws an InputError that says what to do. */
export function checkMediaFolder(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return;
  const what = stat === undefined ? 'there is no such folder' : 'it is no folder';
  throw new InputError(`--media ${path}: ${what}. Make it, or leave the setting out.`);
}
