import { z } from 'zod'
import { InNamespace, TraceKey, pastQuery } from './parameters.ts'
import { type Api, other } from './route.ts'

const ExportFormat = z.enum(['md', 'html', 'json'])
export type ExportFormat = z.infer<typeof ExportFormat>

/** A trace with its messages as a file. */
export const exports = {
  'GET /v1/traces/{externalId}/export': {
    tag: 'traces',
    summary: 'Export a trace with its messages as a file',
    description:
      'Who may read the trace may export it. An attachment named after its title: Markdown, a page of HTML without scripts ' +
      'and references to anything outside, or JSON (`{"trace", "messages"}`, without the envelope). It is streamed; when the ' +
      'trace is deleted, changed or no longer readable meanwhile, the transfer breaks off. Errors: `invalid_request` (400) ' +
      'for a format that is missing or unknown, and for a revision together with a time; `unauthorized` (401) without a token for a trace that is not public; ' +
      '`not_found` (404), also for a namespace that is not there.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: {
      format: ExportFormat.meta({
        description:
          'What the file is: `json` is the trace and its messages exactly as they are stored, for `tracebook import`; `md` and `html` ' +
          'are for people',
        examples: ['md'],
      }),
      namespace: InNamespace.optional(),
      ...pastQuery,
    },
    answer: other(['text/markdown', 'text/html', 'application/json'], { 200: z.string().meta({ format: 'binary' }) }),
    errors: ['unauthorized', 'not_found'],
  },
} as const satisfies Api
