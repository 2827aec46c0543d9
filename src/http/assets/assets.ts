import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

interface Asset {
  /** Its address, which changes with its bytes, so that browsers never ask for it again. */
  readonly url: string;
  readonly file: string;
  readonly type: string;
  readonly body: Buffer;
  /** The bytes compressed; made when first asked for, and kept. */
  compressed(coding: 'br' | 'gzip'): Promise<Buffer>;
}

export const STATIC_PATH = '/static/';

/** Hexadecimal digits of the digest in an address. */
const HASH_DIGITS = 12;
/** An import of a module from its neighbour, as the compiler writes it. */
const IMPORT = /(\bfrom |\bimport\(|\bimport )(['"])\.\/([\w-]+\.m?js)\2/g;
/** Names a file for debuggers that is not served. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=.*\s*$/;

// half the time of the best quality, and 5 % more bytes
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export class Assets {
  readonly #prefix: string;
  readonly #sources: readonly AssetSource[];
  readonly #read = new Map<string, Asset>();

  /** `prefix`, a path without a slash at its end, begins all addresses. */
  constructor(prefix: string, sources: readonly AssetSource[] = SOURCES) {
    this.#prefix = prefix;
    this.#sources = sources;
  }

  /** Read when first asked for. Throws where there is none. */
  named(name: string): Asset {
    let asset = this.#read.get(name);
    if (asset === undefined) {
      const source = this.#sources.find((one) => `${one.name}.${one.extension}` === name);
      if (source === undefined) throw new Error(`There is no static file ${name}.`);
      asset = createAsset(source, this.#bytesOf(source), this.#prefix);
      this.#read.set(name, asset);
    }
    return asset;
  }

  /** The file at an address that ends with `file`; undefined where there is none. */
  at(file: string): Asset | undefined {
    const [name, , extension] = file.split('.');
    const known = this.#sources.some((one) => one.name === name && one.extension === extension);
    const asset = known ? this.named(`${name}.${extension}`) : undefined;
    return asset?.file === file ? asset : undefined;
  }

  #bytesOf({ extension, paths }: AssetSource): Buffer {
    const path = paths.find((one) => existsSync(one)) ?? paths[0]!;
    const bytes = readFileSync(path);
    if (!TYPES[extension].startsWith('text/javascript')) return bytes;
    const text = bytes.toString().replace(SOURCE_MAP, '\n');
    if (extension === 'mjs') return Buffer.from(text);
    // an address changes when that of a module changes that its file imports
    const linked = text.replaceAll(IMPORT, (_, before: string, quote: string, name: string) => {
      return `${before}${quote}./${this.named(name).file}${quote}`;
    });
    return Buffer.from(linked);
  }
}

function createAsset({ name, extension }: AssetSource, body: Buffer, prefix: string): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_DIGITS);
  const file = `${name}.${hash}.${extension}`;
  const made: { br?: Promise<Buffer>; gzip?: Promise<Buffer> } = {};
  return {
    url: `${prefix}${STATIC_PATH}${file}`,
    file,
    type: TYPES[extension],
    body,
    compressed(coding) {
      made[coding] ??=
        coding === 'br'
          ? promisify(brotliCompress)(body, BROTLI)
          : promisify(gzip)(body, { level: 9 });
      return made[coding];
    },
  };
}

export interface AssetSource {
  /** Its file is served as `<name>.<hash>.<extension>`. */
  readonly name: string;
  readonly extension: keyof typeof TYPES;
  /** Where it may stand; the first that is there counts. */
  readonly paths: readonly string[];
}

export const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
} as const;

const ASSETS = '../../../../assets';
const SCRIPTS = '../../browser';
const MAPLIBRE = '../../../../node_modules/maplibre-gl/dist';

/** Every static file, and what a script imports from its neighbours; nothing else is served. */
export const SOURCES: readonly AssetSource[] = [
  ...['page.css', 'icon.svg', 'map.css', 'viewer.css', 'land.json', 'map-style.json'].map((one) =>
    from(one, ASSETS),
  ),
  ...['page', 'map', 'map-layers', 'map-popups', 'map-tools', 'shapes', 'viewer'].map((one) =>
    from(`${one}.js`, SCRIPTS),
  ),
  // the copy beside a build that is installed, else what the package holds
  ...['maplibre-gl.mjs', 'maplibre-gl-worker.mjs'].map((one) => from(one, SCRIPTS, MAPLIBRE)),
  ...['swagger-ui.css', 'swagger-ui-bundle.js'].map((one) =>
    from(one, new URL('static', import.meta.resolve('@fastify/swagger-ui')).href),
  ),
];

function from(file: string, ...folders: readonly string[]): AssetSource {
  const [name, extension] = file.split('.') as [string, AssetSource['extension']];
  const paths = folders.map((one) => fileURLToPath(new URL(`${one}/${file}`, import.meta.url)));
  return { name, extension, paths };
}
