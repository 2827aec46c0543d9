import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { InputError } from '../../model/quote.js';

interface Asset {
  readonly type: string;
  readonly body: Body;
}

type Body = Buffer | Promise<Buffer>;

export const STATIC_PATH = '/static/';

const HASH_DIGITS = 12;
/** Names a file for debuggers that is not served. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=.*\s*$/;

// half the time of the best quality, and 5 % more bytes
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/**
 * The static files. Each address has the digest of all of them, so that browsers never ask for one
 * again, and a script finds its neighbours where it came from.
 */
export class Assets {
  readonly #prefix: string;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #bodies = new Map<string, Body>();
  #version: string | undefined;

  /**
   * `prefix`, a path without a slash at its end, begins all addresses. Throws an InputError for a
   * file that is missing.
   */
  constructor(prefix: string, paths: ReadonlyMap<string, string> = PATHS) {
    for (const path of paths.values()) {
      if (existsSync(path)) continue;
      const cure = 'run npm ci, make build and node deploy/assets.mjs, or install it anew';
      throw new InputError(`${path}: there is no such file, and pages need it: ${cure}`);
    }
    this.#prefix = prefix;
    this.#paths = paths;
  }

  /** Throws where there is no such file. */
  url(name: string): string {
    if (!this.#paths.has(name)) throw new Error(`There is no static file ${name}.`);
    return `${this.#prefix}${STATIC_PATH}${this.#digest()}/${name}`;
  }

  /** Undefined where there is no such file; its body is made at the first call. */
  at(version: string, name: string, coding?: 'br' | 'gzip'): Asset | undefined {
    const path = this.#paths.get(name);
    if (path === undefined || version !== this.#digest()) return undefined;
    const key = `${name} ${coding}`;
    const body = this.#bodies.get(key) ?? bodyOf(path, coding);
    this.#bodies.set(key, body);
    return { type: TYPES[extname(path)]!, body };
  }

  /** The digest of all files: some 3 MB, read at the first call. */
  #digest(): string {
    if (this.#version === undefined) {
      const hash = createHash('sha256');
      for (const path of this.#paths.values()) hash.update(readFileSync(path));
      this.#version = hash.digest('hex').slice(0, HASH_DIGITS);
    }
    return this.#version;
  }
}

function bodyOf(path: string, coding: 'br' | 'gzip' | undefined): Body {
  const bytes = readFileSync(path);
  const isScript = TYPES[extname(path)]!.startsWith('text/javascript');
  const body = isScript ? Buffer.from(bytes.toString().replace(SOURCE_MAP, '\n')) : bytes;
  if (coding === undefined) return body;
  return coding === 'br'
    ? promisify(brotliCompress)(body, BROTLI)
    : promisify(gzip)(body, { level: 9 });
}

const ASSETS = '../../../../assets';
const SCRIPTS = '../../browser';
const BUILT_IN = existsSync(placeOf(SCRIPTS, 'maplibre-gl.mjs'));
const MAPLIBRE = BUILT_IN ? SCRIPTS : '../../../../node_modules/maplibre-gl/dist';
const VIEWER = new URL('static', import.meta.resolve('@fastify/swagger-ui')).href;

/** Where every static file is, by its name; nothing else is served. */
export const PATHS: ReadonlyMap<string, string> = new Map([
  ...from(ASSETS, 'page.css', 'icon.svg', 'map.css', 'viewer.css', 'land.json', 'map-style.json'),
  ...from(
    SCRIPTS,
    'page.js',
    'map.js',
    'map-layers.js',
    'map-popups.js',
    'map-tools.js',
    'shapes.js',
  ),
  // the copy beside a build that is installed, else what the package holds
  ...from(MAPLIBRE, 'maplibre-gl.mjs', 'maplibre-gl-worker.mjs'),
  ...from(VIEWER, 'swagger-ui.css', 'swagger-ui-bundle.js'),
]);

function from(folder: string, ...files: readonly string[]): [name: string, path: string][] {
  return files.map((file) => [file, placeOf(folder, file)]);
}

function placeOf(folder: string, file: string): string {
  return fileURLToPath(new URL(`${folder}/${file}`, import.meta.url));
}
