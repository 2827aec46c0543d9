import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { read, rows, section } from '../support/documents.js';
import { assert, test } from '../support/uvu.js';

const LIMITS = rows(section(read('docs/security.md'), 'Limits'));
/** Settings that bound what clients can do. */
const BOUND =
  /^--(max-(?!invalid|shrink)[a-z-]+|answer-cache|(request|answer|shutdown|upload|image)-timeout) /;

test('the limits have the defaults of the settings, and none is missing', () => {
  const listed = LIMITS.filter(([, setting]) => setting !== 'none').map(([, setting, fallback]) => [
    setting!.slice(1, -1),
    fallback!.slice(1, -1),
  ]);
  const actual = SERVE_SETTINGS.filter(({ flag }) => BOUND.test(flag)).map((setting) => [
    setting.flag.split(' ', 1)[0],
    setting.fallback,
  ]);
  assert.equal(listed.sort(), actual.sort());
});

test.run();
