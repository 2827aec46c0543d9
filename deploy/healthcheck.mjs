// The health check of the image: asks the service of this container whether it is ready, at the
// address for operators that its flags, or else its environment, name. The service is the first
// process, or the one whose id is given.
import { readFileSync } from 'node:fs';

const [pid = '1'] = process.argv.slice(2);
const flags = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

/** The last value of a flag, else its environment variable. */
function setting(name) {
  let value = process.env[`WAYPOST_${name.toUpperCase().replaceAll('-', '_')}`];
  for (const [at, text] of flags.entries()) {
    if (text === `--${name}`) value = flags[at + 1];
    else if (text.startsWith(`--${name}=`)) value = text.slice(name.length + 3);
  }
  return value || undefined;
}

/** A port; undefined for what Kubernetes sets in the same variable for a Service. */
function port(name) {
  const value = setting(name);
  return /^\d+$/.test(value) ? value : undefined;
}

const own = port('operations-port');
const host = setting(own === undefined ? 'host' : 'operations-host') ?? '127.0.0.1';
const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
const authority = reached.includes(':') ? `[${reached}]` : reached;
const url = `http://${authority}:${own ?? port('port') ?? 8080}/health/ready`;
fetch(url).then(
  (answer) => process.exit(answer.ok ? 0 : 1),
  () => process.exit(1),
);
