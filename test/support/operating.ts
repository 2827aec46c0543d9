import type { Asked, Asking } from './client.js';

/** The body of /health/ready. */
export interface Ready {
  readonly status: string;
  readonly version: string;
  readonly points: number;
  readonly snapshot: string;
  readonly stale: boolean;
  readonly reason?: string;
  readonly since?: string;
  readonly posts: { readonly accepted: boolean; readonly reason?: string };
  readonly building?: {
    readonly path?: string;
    readonly since: string;
    readonly bytes_read: number;
    readonly bytes_total: number;
  };
}

export async function readyOf(service: Asking, headers: Asked['headers'] = {}): Promise<Ready> {
  return (await service.get('/health/ready', { headers })).json<Ready>();
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** /metrics; reading throws for what breaks the rules of Prometheus's text format. */
export interface Metrics {
  readonly text: string;
  /** Announced types by metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the only sample of this name whose labels include `labels`. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g;
const SUFFIX = /_(?:bucket|sum|count)$/;

export async function metricsOf(service: Asking): Promise<Metrics> {
  const { text } = await service.get('/metrics');
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (helped.has(name)) throw new Error(`${name} is explained twice`);
      helped.add(name);
    } else if (keyword === 'TYPE') {
      if (types.has(name)) throw new Error(`${name} is announced twice`);
      types.set(name, rest);
    } else {
      const sample = readSample(line);
      const family = types.has(sample.name) ? sample.name : sample.name.replace(SUFFIX, '');
      if (!types.has(family)) throw new Error(`${sample.name} was not announced`);
      samples.push(sample);
    }
  }
  return {
    text,
    types,
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (one) =>
          one.name === name &&
          Object.entries(labels).every(([key, text]) => one.labels[key] === text),
      );
      if (found.length === 1) return found[0]!.value;
      throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`);
    },
  };
}

function readSample(line: string): Sample {
  const [, name, inner = '', text] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  const rest = inner.replaceAll(LABEL, (_, key: string, label: string) => {
    labels[key] = label;
    return '';
  });
  const value = Number(text!.replace('Inf', 'Infinity'));
  const isNumber = !Number.isNaN(value) || /^NaN$/i.test(text!);
  if (rest !== '' || !isNumber) throw new Error(`no sample: ${line}`);
  return { name, labels, value };
}
