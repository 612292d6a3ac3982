import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../http/caller.ts'
import { ErrorBody } from '../http/errors.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { Key } from '../http/keys.ts'
import type { Reader } from '../http/long-list.ts'
import { assertMayRead } from '../trace/policy.ts'
import { type Resolved, memberOf, resolveTrace, traceDetail } from '../trace/queries.ts'
import { resolveInNamespace } from '../trace/resolve-in-namespace.ts'
import { checkRight } from '../trace/right-to-read.ts'
import type { TraceServices } from '../trace/services.ts'
import { attachment } from './attachment.ts'
import { type Source, presentSource } from './source.ts'
import { type Format, newTranscript } from './transcript.ts'
import { readTrace, titleOf } from './transcript/head.ts'

const Params = z.object({ externalId: Key })
const Query = z.object({
  format: z.enum(['md', 'html', 'json']).meta({
    description:
      'What the file is: `json` is the trace and its messages exactly as they are stored, for `tracebook import`; `md` and `html` ' +
      'are for people',
    examples: ['md'],
  }),
  namespace: z
    .string()
    .meta({ description: 'The slug of a namespace: only a trace of this one is meant', examples: ['my-team'] })
    .optional(),
  revision: z
    .string()
    .meta({ description: 'The past cannot be exported yet: refused', examples: ['12'] })
    .optional(),
  at: z
    .string()
    .meta({ description: 'The past cannot be exported yet: refused', examples: ['1767366245000'] })
    .optional(),
})

const types: Readonly<Record<Format, string>> = {
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
}

/** A file may be opened from the address itself: nothing in it runs, loads anything or belongs to this origin. */
const SAFE_HEADERS = {
  'content-security-policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

type Services = Pick<TraceServices, 'reads' | 'models' | 'streams'>
type Asked = { readonly format: Format; readonly namespace: string | undefined }

/** `GET /v1/traces/{externalId}/export`: a session as a file. */
export const exportRoute = (app: FastifyInstance, { reads, models, streams }: Services): void => {
  const find = async (externalId: string, { namespace }: Asked, caller: Caller | undefined): Promise<Resolved> => {
    const hit =
      namespace === undefined
        ? await resolveTrace(reads, externalId, caller)
        : await resolveInNamespace(reads, namespace, externalId, caller)
    if (!hit) throw notFound()
    assertMayRead(hit, memberOf(caller, hit))
    return hit
  }

  const send = <Row>(reply: FastifyReply, format: Format, source: Source<Row>, reader: Reader, incarnation: bigint) => {
    let transcript: ReturnType<typeof newTranscript>
    return streams.send(reply, {
      reader,
      check: () => checkRight(reads, reader, incarnation),
      pageWeight: source.pageWeight,
      pages: source.pages,
      before: () => {
        transcript = newTranscript(format, source.trace())
        return transcript.start()
      },
      toText: (row: Row) => transcript.add(source.messageText(row)),
      after: () => transcript.end(),
      headers: () => ({
        ...SAFE_HEADERS,
        'content-type': types[format],
        'content-disposition': attachment(titleOf(readTrace(source.trace())), format),
      }),
    })
  }

  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/export',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Export a trace with its messages as a file',
        description:
          'Who may read the trace may export it. An attachment named after its title: Markdown, a page of HTML without scripts ' +
          'and references to anything outside, or JSON (`{"trace", "messages"}`, without the envelope). It is streamed; when the ' +
          'trace is deleted, changed or no longer readable meanwhile, the transfer breaks off. Errors: `invalid_request` (400) ' +
          'for a format that is missing or unknown; `unauthorized` (401) without a token for a trace that is not public; ' +
          '`not_found` (404), also for a namespace that is not there.',
        tags: ['traces'],
        params: Params,
        querystring: Query,
        produces: ['text/markdown', 'text/html', 'application/json'],
        response: { 200: z.string().meta({ format: 'binary' }), 401: ErrorBody, 404: ErrorBody },
      },
    },
    async ({ caller, params, query }, reply) => {
      const { format, namespace } = query
      for (const past of ['revision', 'at'] as const)
        if (query[past] !== undefined) throw invalid(past, 'the past cannot be exported yet')
      const hit = await find(params.externalId, { format, namespace }, caller)
      const trace = await traceDetail(reads, hit.id)
      if (!trace) throw notFound()
      assertMayRead(trace, memberOf(caller, hit))
      const reader = { caller, namespaceId: hit.namespaceId, traceId: hit.id, isMember: hit.role !== undefined }
      // The past of a trace will be another source, for `revision` and `at`, after a check of who may see history.
      const source = presentSource({ reads, models }, trace)
      return send(reply, format, source, reader, trace.incarnation)
    },
  )
}
