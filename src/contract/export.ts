import { z } from 'zod'
import { InNamespace, TraceKey, badMoment, pastQuery } from './parameters.ts'
import { type Api, other } from './route.ts'
import { noTrace, notPublic, pastForMembers } from './traces.ts'

const ExportFormat = z.enum(['md', 'html', 'json'])
export type ExportFormat = z.infer<typeof ExportFormat>

/** A trace with its messages as a file. */
export const exports = {
  'GET /v1/traces/{externalId}/export': {
    tag: 'traces',
    summary: 'Export a trace with its messages as a file',
    description:
      'Whoever may read the trace may export it. The answer is an attachment that is named after the title of the trace: Markdown, an ' +
      'HTML page without scripts and without references to anything outside, or JSON (`{"trace", "messages"}`, without the ' +
      'envelope). The file is streamed. The transfer breaks off if the trace is deleted or changed meanwhile, or you may not read it any more.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: {
      format: ExportFormat.meta({
        description:
          'The format of the file. `json`: the trace and its messages exactly as stored, for `tracebook import`; `md` and `html`: for people',
        examples: ['md'],
      }),
      namespace: InNamespace.optional(),
      ...pastQuery,
    },
    answer: other(['text/markdown', 'text/html', 'application/json'], { 200: z.string().meta({ format: 'binary' }) }),
    errors: {
      invalid_request: `\`format\` is missing or not one of \`md\`, \`html\` and \`json\`. Or ${badMoment}`,
      unauthorized: `${notPublic} The past of a trace always needs a token.`,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or the revision or the time is before the creation of the trace or after its last revision.`,
    },
  },
} as const satisfies Api
