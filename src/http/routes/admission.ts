import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Draft } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import type { PostKey } from '../../posts/journal.js';
import type { SharedRoom } from '../../posts/media/shared-room.js';
import type { Upload } from '../../posts/media/upload.js';
import type { PostRequest } from '../../posts/posts.js';
import type { Posting } from '../answer/context.js';
import { PAGE_NEGOTIATION, PAGE_OFFER } from '../pages/page-format.js';
import {
  type Body,
  type BodyKind,
  kindOfBody,
  POST_KINDS,
  parseFormBody,
  parseJsonBody,
  receiveBody,
} from '../request/body.js';
import { clientOf } from '../request/client.js';
import { credentialsMissing, HttpError } from '../request/http-error.js';
import { readMultipart } from '../request/multipart.js';
import { checkSameSite, type OriginOf } from '../request/origin.js';
import { readDraft } from '../request/post-fields.js';

const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

export interface Admitting {
  readonly posting: Posting;
  readonly trustProxy: boolean;
  readonly originOf: OriginOf;
  readonly bodies: SharedRoom;
}

export interface Submission {
  readonly body: Body;
  readonly image: Upload | undefined;
}

/**
 * One post from its head to its answer: who sends it, what it is, and what makes it count once. It
 * is made before the body is read, and refuses what can be refused without: throws an HttpError.
 */
export class Admission {
  /** Of the token that came with it. */
  readonly user: number | undefined;
  /** By which its client is counted. */
  readonly address: string;
  readonly origin: string;
  readonly isPage: boolean;
  readonly #posting: Posting;
  readonly #bodies: SharedRoom;
  readonly #keyName: string | undefined;
  readonly #kind: BodyKind | undefined;

  constructor({ raw, user }: FastifyRequest, { posting, trustProxy, originOf, bodies }: Admitting) {
    const { headers } = raw;
    this.#posting = posting;
    this.#bodies = bodies;
    this.user = user;
    this.address = clientOf(raw, trustProxy);
    if (user === undefined && posting.requireToken) throw credentialsMissing();
    if (user === undefined) posting.addressThrottle.take(this.address);
    else posting.tokenThrottle.take(String(user));
    this.origin = originOf(raw);
    this.isPage = PAGE_NEGOTIATION.accepted(headers.accept) === PAGE_OFFER;
    // a form of a page, which a page of another site could have sent just as well
    if (this.isPage) checkSameSite(raw, this.origin);
    this.#keyName = keyName(headers['idempotency-key'], user);
    this.#kind = hasBody(headers) ? kindOfBody(headers, POST_KINDS) : undefined;
  }

  /** Without a body nothing was said. Throws an HttpError; no image is left then. */
  async read(raw: IncomingMessage): Promise<Submission> {
    const { uploads } = this.#posting;
    const { address } = this;
    const room = this.#bodies;
    if (this.#kind === 'multipart') {
      const { fields, image } = await readMultipart(raw, { uploads, room, address });
      return { body: { kind: 'form', fields }, image };
    }
    if (this.#kind === undefined) return { body: parseFormBody(Buffer.alloc(0)), image: undefined };
    const bytes = await receiveBody(raw, room, address);
    const body = this.#kind === 'json' ? parseJsonBody(bytes) : parseFormBody(bytes);
    return { body, image: undefined };
  }

  /**
   * The post itself, of what was sent; a form has the `page` that it stands on. Throws a 400
   * HttpError where fields are wrong and there is no image, which may be wrong, too: both are told
   * together.
   */
  requestOf({ body, image }: Submission, page?: string): PostRequest {
    const { user, address } = this;
    const draft = readDraft(body);
    if ('problems' in draft) {
      if (image === undefined) throw new HttpError(400, draft.problems);
      return { draft, user, address, key: undefined, upload: image };
    }
    return { draft, user, address, key: this.#keyOf(draft, image, page), upload: image };
  }

  /**
   * What makes a post count once: the key, and what the body says however it is written down. A
   * form has no key, but counts once for what it says and who sent it from which page.
   */
  #keyOf(
    { lat, lon, comment, tags }: Draft,
    image: Upload | undefined,
    page: string | undefined,
  ): PostKey | undefined {
    if (this.#keyName === undefined && !page) return undefined;
    const body = sha256(JSON.stringify([lat, lon, comment, tags, image?.sha256]));
    if (this.#keyName !== undefined) return { name: this.#keyName, body };
    const form = JSON.stringify([this.address, this.user, page]);
    // a key of a client's own has one blank, behind the user
    return { name: `- form ${sha256(form + body)}`, body };
  }
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** With the user in front: nobody's key is in the way of another's. Throws a 400 HttpError. */
function keyName(header: string | string[] | undefined, user: number | undefined) {
  if (header === undefined) return undefined;
  const key = String(header);
  if (KEY_SHAPE.test(key)) return `${user ?? '-'} ${key}`;
  const detail = `Got Idempotency-Key ${quote(key)}. Expected 1 to 255 visible ASCII characters without blanks, such as a UUID.`;
  throw new HttpError(400, { detail });
}

function sha256(text: string): string {
  return hash('sha256', text);
}
