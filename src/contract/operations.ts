import { z } from 'zod'
import { time } from './fields.ts'
import { type Api, other } from './route.ts'

const timestamp = time('What the clock of the service says')
const reasons = (description: string, example: string) =>
  z.array(z.string()).meta({ description, examples: [[example]] })

const Alive = z.object({ status: z.literal('ok').meta({ description: 'Always `ok`' }), timestamp })
export type Alive = z.infer<typeof Alive>
const Ready = z.object({
  status: z.literal('ready').meta({ description: 'That requests can be served' }),
  degraded: reasons('What works, but needs attention', 'summaries').optional(),
  timestamp,
})
export type Ready = z.infer<typeof Ready>
const NotReady = z.object({
  status: z.literal('not ready').meta({ description: 'That something is missing' }),
  missing: reasons('What is missing', 'log'),
  timestamp,
})
export type NotReady = z.infer<typeof NotReady>

const JSON_TYPES = ['application/json'] as const

/** For whoever runs the service; what supervisors and scrapers expect has no envelope. */
export const operations = {
  'GET /health': {
    tag: 'operations',
    summary: 'Whether the process lives',
    description: 'For supervisors. Answers 200 as long as the process answers at all, whatever else is away.',
    auth: 'none',
    answer: other(JSON_TYPES, { 200: Alive }),
  },
  'GET /health/ready': {
    tag: 'operations',
    summary: 'Whether reads and writes can be served',
    description:
      'For load balancers. 200 when requests can be served, with `degraded` for what needs attention, such as a disk that is ' +
      'nearly full, which refuses writes; else 503 with `missing`, and `Retry-After`.',
    auth: 'none',
    answer: other(JSON_TYPES, { 200: Ready, 503: NotReady }),
  },
  'GET /metrics': {
    tag: 'operations',
    summary: 'Prometheus metrics',
    description: 'All metrics of this process in the text format of Prometheus.',
    auth: 'none',
    answer: other(['text/plain'], { 200: z.null() }),
  },
} as const satisfies Api
