import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// loaded in front of a service: its flushes take longer, as on a disk behind a network

/** Milliseconds that each `fdatasync` takes in addition to its own. */
const EXTRA_MS = Number(process.env['SLOW_FLUSH_MS']);

const { fdatasync } = fs;
fs.fdatasync = Object.assign(
  (fd: number, done: fs.NoParamCallback) => {
    fdatasync(fd, (error) => {
      setTimeout(() => done(error), EXTRA_MS);
    });
  },
  { __promisify__: fdatasync.__promisify__ },
);
syncBuiltinESMExports();
