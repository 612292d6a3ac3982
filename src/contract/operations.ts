import { z } from 'zod'
import { time } from './fields.ts'
import { type Api, other } from './route.ts'

const timestamp = time('The time of the clock of the service')
const reasons = (description: string, example: string) =>
  z.array(z.string()).meta({ description, examples: [[example]] })

const Alive = z.object({ status: z.literal('ok').meta({ description: 'Always `ok`' }), timestamp })
export type Alive = z.infer<typeof Alive>
const Ready = z.object({
  status: z.literal('ready').meta({ description: 'Always `ready`: the service can answer requests' }),
  degraded: reasons('What works but needs attention', 'summaries').optional(),
  timestamp,
})
export type Ready = z.infer<typeof Ready>
const NotReady = z.object({
  status: z.literal('not ready').meta({ description: 'Always `not ready`: something is missing' }),
  missing: reasons('What is missing', 'log'),
  timestamp,
})
export type NotReady = z.infer<typeof NotReady>

const JSON_TYPES = ['application/json'] as const

/** For the operator. The answers have the form that supervisors and Prometheus expect, without the envelope. */
export const operations = {
  'GET /health': {
    tag: 'operations',
    summary: 'Whether the process is alive',
    description: 'For supervisors. The answer is 200 as long as the process runs, even if its database is away.',
    auth: 'none',
    answer: other(JSON_TYPES, { 200: Alive }),
  },
  'GET /health/ready': {
    tag: 'operations',
    summary: 'Whether the service can answer reads and writes',
    description:
      'For load balancers. The answer is 200 if the service can answer requests; then `degraded` names what needs attention, such as a ' +
      'disk that is nearly full, so that writes are refused. Else it is 503 with `missing` and `Retry-After`.',
    auth: 'none',
    answer: other(JSON_TYPES, { 200: Ready, 503: NotReady }),
  },
  'GET /metrics': {
    tag: 'operations',
    summary: 'Prometheus metrics',
    description:
      'All metrics of this process in the text format of Prometheus: for programs on its machine, and for those that send the bearer token ' +
      '`METRICS_TOKEN`.',
    auth: 'none',
    answer: other(['text/plain'], { 200: z.null() }),
    errors: {
      unauthorized:
        'The request comes from another machine, over a proxy or from a page, and does not have the token `METRICS_TOKEN`. Set it, and send it as ' +
        '`Authorization: Bearer <token>`.',
      rate_limited: 'Too many requests of this address were refused. Wait as many seconds as `Retry-After` says.',
    },
  },
} as const satisfies Api
