import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';

// V8 would take any depth, but what follows may not, and no record needs it
const MAX_DEPTH = 64;

/** The list of a JSON document that holds its records. */
export type ListName = 'array' | 'results' | 'features';

/** Follows the tokens of a JSON document as far as it takes to know where its records are. */
export class Outline {
  /** Undefined until the list begins. */
  list: ListName | undefined;
  /** The member `type` of the outermost object, where it is text. */
  type: string | undefined;
  #depth = 0;
  #key: unknown;
  #afterColon = false;

  /** Throws for what is JSON but cannot be a list of records. */
  see(token: TokenType, value: unknown): void {
    if (this.#depth === 0) {
      if (token === TokenType.LEFT_BRACKET) this.list = 'array';
    } else if (this.#depth === 1 && this.list !== 'array') {
      if (this.#afterColon) this.#seeMember(token, value);
      else if (token === TokenType.STRING) this.#key = value;
      this.#afterColon = token === TokenType.COLON;
    }
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) this.#depth += 1;
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#depth -= 1;
    if (this.#depth > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`);
  }

  #seeMember(token: TokenType, value: unknown): void {
    const key = this.#key;
    if (key === 'type') {
      this.type = token === TokenType.STRING ? String(value) : undefined;
    } else if ((key === 'results' || key === 'features') && token === TokenType.LEFT_BRACKET) {
      if (this.list !== undefined) throw new Error(`it has a second list of records, "${key}"`);
      this.list = key;
    }
  }
}

/** What the beginning of a JSON document shows: whether it ends there, and the outline so far. */
export function outlineOf(start: Uint8Array): { outline: Outline; state: JsonState } {
  const outline = new Outline();
  const tokenizer = new Tokenizer();
  const parser = new TokenParser({ paths: [] });
  tokenizer.onToken = (token) => {
    outline.see(token.token, token.value);
    parser.write(token);
  };
  parser.onEnd = () => tokenizer.end();
  try {
    tokenizer.write(start);
  } catch {
    return { outline, state: 'broken' };
  }
  return { outline, state: parser.isEnded ? 'complete' : 'open' };
}

export type JsonState = 'complete' | 'open' | 'broken';
