import { CLIENT_SETTINGS } from './clients.js';
import { POINTS_SETTINGS } from './points.js';
import { PROCESS_SETTINGS } from './process.js';
import type { Setting } from './setting.js';

/** Every setting of `waypost serve`, in the order of its help; README.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = [
  ...POINTS_SETTINGS,
  ...PROCESS_SETTINGS,
  ...CLIENT_SETTINGS,
];
