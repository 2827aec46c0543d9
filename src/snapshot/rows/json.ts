import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { featureRow } from './geojson.js';
import { Outline } from './outline.js';
import { BrokenRows, MAX_RAW_BYTES, type Row, TOO_LONG } from './row.js';

/**
 * The records of one JSON document: an array of them, an object with a list `results` (a page of the
 * API), or a GeoJSON FeatureCollection. A syntax error breaks the file, as nothing tells where the
 * next record would begin.
 */
export async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const document = new JsonDocument();
  for await (const chunk of chunks) yield document.write(chunk);
  document.end();
}

class JsonDocument {
  readonly #tokenizer = new Tokenizer();
  readonly #outline = new Outline();
  #parser: TokenParser | undefined;
  #rows: Row[] = [];
  #records = 0;
  #bytes = 0;
  /** Where the last token begins, and where the last record ends. */
  #token = 0;
  #recordEnd = 0;

  constructor() {
    this.#tokenizer.onToken = (token) => {
      this.#token = token.offset;
      this.#parser ??= this.#startParser(token.token);
      this.#outline.see(token.token, token.value);
      this.#parser.write(token);
    };
  }

  /** The records that end in this chunk. */
  write(chunk: Uint8Array): Row[] {
    this.#rows = [];
    try {
      this.#tokenizer.write(chunk);
    } catch (error) {
      throw this.#broken(error as Error);
    }
    this.#bytes += chunk.length;
    if (this.#parser?.isEnded !== true) this.#checkLength(this.#bytes);
    return this.#rows;
  }

  /** Throws unless the document was complete, and one that holds records. */
  end(): void {
    const { list, type } = this.#outline;
    if (this.#parser?.isEnded !== true) {
      throw new BrokenRows(
        `the JSON document is cut short: it ends at byte ${this.#bytes}, inside or behind record ${this.#records + 1}`,
      );
    }
    if (list === undefined) {
      throw new BrokenRows(
        'a JSON document must be an array of records, an object with a list "results", or a GeoJSON FeatureCollection with a list "features"',
      );
    }
    if (list === 'features' && type !== 'FeatureCollection') {
      throw new BrokenRows('a list "features" needs a "type" of "FeatureCollection" beside it');
    }
  }

  #startParser(first: TokenType): TokenParser {
    const paths = first === TokenType.LEFT_BRACKET ? ['$.*'] : ['$.results.*', '$.features.*'];
    const parser = new TokenParser({ paths, keepStack: false });
    parser.onValue = ({ value, parent }) => {
      // an object in the place of the list matches the path, too
      if (!Array.isArray(parent)) return;
      this.#checkLength(this.#token);
      this.#records += 1;
      this.#recordEnd = this.#token + 1;
      const place = this.#records;
      this.#rows.push(
        this.#outline.list === 'features' ? featureRow(place, value) : { place, value },
      );
    };
    parser.onEnd = () => this.#tokenizer.end();
    return parser;
  }

  #checkLength(position: number): void {
    if (position - this.#recordEnd <= MAX_RAW_BYTES) return;
    throw new BrokenRows(
      `record ${this.#records + 1}, behind byte ${this.#recordEnd}, ${TOO_LONG.reason}`,
    );
  }

  #broken(error: Error): BrokenRows {
    if (error instanceof BrokenRows) return error;
    // the tokenizer says where it stopped; of the parser's errors the last token tells
    const [, position = this.#token] = /absolute position "(\d+)"/.exec(error.message) ?? [];
    const reason = error.message.replace(/ (?:at chunk position|in state) .*$/s, '').slice(0, 100);
    return new BrokenRows(
      `broken at byte ${position}, in or behind record ${this.#records + 1}: ${reason}`,
    );
  }
}
