import { fileURLToPath } from 'node:url';

/** A static file of the pages: where it stands, and what it is. */
export interface Source {
  /** Its file is served as `<name>.<hash>.<extension>`. */
  readonly name: string;
  readonly extension: keyof typeof TYPES;
  /** Where it may stand; the first that is there counts. */
  readonly paths: readonly string[];
}

/** Content types by the extension of a name. */
export const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
} as const;

/** Every static file; nothing else is served under its address. */
export const SOURCES: readonly Source[] = [
  style('page'),
  image('icon'),
  script('page'),
  style('map'),
  script('map'),
  script('map-drawing'),
  script('map-layers'),
  script('map-popups'),
  script('map-summary'),
  script('map-tools'),
  script('shapes'),
  library('maplibre-gl'),
  library('maplibre-gl-worker'),
  style('viewer'),
  script('viewer'),
  swagger('swagger-ui', 'css'),
  swagger('swagger-ui-bundle', 'js'),
  { name: 'land', extension: 'json', paths: [beside('../../../../assets/land.json')] },
];

/** A style sheet of the folder `assets` at the top of the project, which no build changes. */
function style(name: string): Source {
  return { name, extension: 'css', paths: [beside(`../../../../assets/${name}.css`)] };
}

/** A drawing of the same folder. */
function image(name: string): Source {
  return { name, extension: 'svg', paths: [beside(`../../../../assets/${name}.svg`)] };
}

/**
 * A script of `src/browser`, compiled. Its imports of the form `./name.js` must have a row, too.
 */
function script(name: string): Source {
  return { name, extension: 'js', paths: [beside(`../../browser/${name}.js`)] };
}

/** A part of MapLibre: the copy beside a build that is installed, else what its package holds. */
function library(name: string): Source {
  const [copy, own] = ['../../browser', '../../../../node_modules/maplibre-gl/dist'];
  return {
    name,
    extension: 'mjs',
    paths: [beside(`${copy}/${name}.mjs`), beside(`${own}/${name}.mjs`)],
  };
}

/** A file of Swagger UI, out of the package that carries it. */
function swagger(name: string, extension: 'css' | 'js'): Source {
  const url = new URL(`static/${name}.${extension}`, import.meta.resolve('@fastify/swagger-ui'));
  return { name, extension, paths: [fileURLToPath(url)] };
}

function beside(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
