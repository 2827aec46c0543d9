/** What the system says where somebody has to change something. */
const RIGHTS = new Set(['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR', 'ELOOP']);
// result codes of SQLite
const [BUSY, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB] = [5, 8, 10, 11, 13, 14, 26];

/** What is wrong with a file of a journal. */
type StoreFault =
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
  const { message, code } = error as NodeJS.ErrnoException;
  const raw = resultOf(error);
  const make = (fault: StoreFault, text: string): StoreError => new StoreError(fault, text, error);
  if (raw === BUSY) return make('locked', 'another process owns it');
  if (raw === CORRUPT || raw === NOTADB) return make('refused', `it is damaged: ${message}`);
  if (raw === READONLY || RIGHTS.has(code ?? '')) {
    return make('unwritable', `it cannot be written (${code ?? message})`);
  }
  if (code === 'ENOENT') return make('failing', 'there is no such folder');
  if (raw === FULL) return make('failing', 'the disk is full');
  if (raw === IOERR) return make('failing', `the disk fails (${code})`);
  if (raw === CANTOPEN) return make('failing', 'it cannot be opened');
  return make('failing', `it cannot be used (${code ?? message})`);
}

/** Whether nothing of a transaction is in the file that failed with this error. */
export function isUndone({ cause }: StoreError): boolean {
  const raw = cause === undefined ? 0 : resultOf(cause);
  return raw === FULL || raw === BUSY;
}

/** The primary result code of SQLite's error; 0 of another. */
function resultOf(error: unknown): number {
  const { message, rawCode } = error as Error & { rawCode?: number };
  // the library has no code for what cannot be opened
  return (rawCode ?? Number(/: (\d+)"?\)?$/.exec(message)?.[1] ?? 0)) & 0xff;
}
