import type { AddressInfo } from 'node:net';
import { InputError } from '../errors.js';

/** Where a server listens: at an address, or on a socket that does so already. */
export type Place = { readonly host: string; readonly port: number } | { readonly fd: number };

/** Runs what begins to listen at the address. Throws an InputError that says why it could not. */
export async function listening<T>(
  host: string,
  port: number,
  begin: () => Promise<T>,
): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    let reason = message;
    if (code === 'EADDRINUSE') reason = 'something else listens there; choose another --port';
    if (code === 'EACCES') reason = 'that port needs privileges; choose one above 1023';
    throw new InputError(`Cannot listen on ${host}:${port}: ${reason}.`);
  }
}

/** The address as a URL. */
export function addressText({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
