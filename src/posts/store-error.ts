/** What the system says where somebody has to change something. */
const RIGHTS = new Set(['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR']);

// result codes of SQLite
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** What is wrong with a file of a journal. */
export type StoreFault =
  /** Another process owns it. */
  | 'locked'
  /** The rights of the file or its folder are wanting. */
  | 'unwritable'
  /** It is no journal, or a damaged one: people have to look at it. */
  | 'refused'
  /** The disk is full, or fails; that may pass. */
  | 'failing';

/** The message says what is wrong, without the name of the file. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** The error for one of SQLite's or the system's. */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message, rawCode, code } = error as Error & { rawCode?: number; code?: string };
  // the library has no code for what cannot be opened
  const raw = (rawCode ?? Number(/: (\d+)"?\)?$/.exec(message)?.[1] ?? 0)) & 0xff;
  if (raw === BUSY) return new StoreError('locked', 'another process owns it', error);
  if (raw === CORRUPT || raw === NOTADB) {
    return new StoreError('refused', `it is damaged: ${message}`, error);
  }
  if (raw === READONLY || RIGHTS.has(code ?? '')) {
    return new StoreError('unwritable', `it cannot be written (${code ?? message})`, error);
  }
  if (code === 'ENOENT') {
    return new StoreError('failing', 'there is no such folder', error);
  }
  if (raw === FULL) return new StoreError('failing', 'the disk is full', error);
  if (raw === IOERR) return new StoreError('failing', `the disk fails (${code})`, error);
  if (raw === CANTOPEN) return new StoreError('failing', 'it cannot be opened', error);
  return new StoreError('failing', `it cannot be used (${code ?? message})`, error);
}

/** Whether nothing of a transaction is in the file that failed with this error. */
export function isUndone({ cause }: StoreError): boolean {
  const raw = ((cause as { rawCode?: number } | undefined)?.rawCode ?? 0) & 0xff;
  return raw === FULL || raw === BUSY;
}
