import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createCodingOf } from '../answer/compression.js';
import type { Context } from '../answer/context.js';
import { FOR_EVER, varyOf } from '../answer/head.js';
import { STATIC_PATH } from '../assets/assets.js';
import { ALLOW_READ } from '../request/addresses.js';
import { NotFound } from '../request/http-error.js';
import { addOtherAddress, FILE, FILE_METHODS } from './other-address.js';

/** Adds `GET /static/<name>.<hash>.<extension>`: the styles and scripts of the pages. */
export function addStatic(
  app: FastifyInstance,
  { site, corsOrigin }: Pick<Context, 'site' | 'corsOrigin'>,
): void {
  const { assets } = site;
  const vary = varyOf({ isPersonal: false, compress: true, corsOrigin, isFile: true });
  const codingOf = createCodingOf();

  async function send({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asset = assets.at((params as { readonly file: string }).file);
    if (asset === undefined) throw new NotFound();
    const coding = codingOf(raw.headers['accept-encoding']);
    const body = coding === undefined ? asset.body : await asset.compressed(coding);
    // another content has another address
    reply.headers({ Allow: ALLOW_READ, Vary: vary, 'Cache-Control': FOR_EVER });
    reply.headers({ 'Content-Type': asset.type, 'Content-Length': body.length });
    if (coding !== undefined) reply.header('Content-Encoding', coding);
    return reply.send(raw.method === 'HEAD' ? undefined : body);
  }

  addOtherAddress(app, `${STATIC_PATH}:file`, FILE_METHODS, send, FILE);
}
