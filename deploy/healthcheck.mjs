// The health check of the image: asks the service of this container whether it is ready, where its flags or else the
// environment say that it answers operators. It is the first process, or the one whose id is given.
import { readFileSync } from 'node:fs';

const [pid = '1'] = process.argv.slice(2);
const flags = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

/** The last of a flag's values, else its variable's. */
function setting(name) {
  let value = process.env[`WAYPOST_${name.toUpperCase().replaceAll('-', '_')}`];
  for (const [at, text] of flags.entries()) {
    if (text === `--${name}`) value = flags[at + 1];
    else if (text.startsWith(`--${name}=`)) value = text.slice(name.length + 3);
  }
  return value || undefined;
}

/** A port, but not what Kubernetes tells of a Service in the same variable. */
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
