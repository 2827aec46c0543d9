import { type Claim, Claimed, claim } from '../claim.js';
import { InputError } from '../errors.js';
import { incomingIn } from './folder.js';

/** Another process writes images to the folder. */
export class MediaLocked extends InputError {}

/**
 * Makes this process the one that writes images to a folder: another would remove its uploads when
 * it starts. Throws a {@link MediaLocked}, or an InputError where the folder takes no sockets.
 */
export async function lockMedia(folder: string): Promise<Claim> {
  try {
    return await claim(incomingIn(folder));
  } catch (error) {
    if (error instanceof Claimed) {
      throw new MediaLocked(
        `--media ${folder}: process ${error.pid} writes images there: give each instance that accepts points its own folder, or end that one first`,
      );
    }
    const { message } = error as Error;
    throw new InputError(`--media ${folder}: no lock can be made there: ${message}`, {
      cause: error,
    });
  }
}
