import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import type { Group } from '../../src/eventstore/engine/group.ts'
import { readConfig } from '../../src/server/config.ts'
import { REOPENING } from '../../src/server/http/closing.ts'
import { NOT_NOW } from '../../src/server/http/errors.ts'
import type { Front } from '../../src/server/service/front.ts'
import { openNode } from '../../src/server/service/node.ts'
import type { Service } from '../../src/server/service/service.ts'
import { logEnvironment } from './log-place.ts'

export type Answer = {
  readonly status: number
  readonly data: never
  readonly error: { code: string; message: string }
}

export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  options?: { token?: string | undefined; body?: unknown; headers?: Record<string, string> },
) => Promise<Answer>

export type OpenOptions = {
  readonly now?: () => number
  readonly env?: Record<string, string>
  readonly logger?: Logger
  readonly isDiskLow?: () => boolean
  /** The folder of an embedded database, whose disk is measured. */
  readonly dataDir?: string
  /** All groups of read models. Default: those of the service. */
  readonly groups?: readonly Group[]
  /** The socket that it listens on. Default: none. */
  readonly front?: Front
  /** Whether to wait until it is ready. Default true. */
  readonly ready?: boolean
}

const READY_MS = 90_000
const LOOK_MS = 10

/** A log that also holds many other events takes long. */
const untilReady = async (service: () => Service) => {
  const end = performance.now() + READY_MS
  for (;;) {
    const { missing } = await service().readiness()
    if (missing.length === 0) return
    if (performance.now() > end) throw new Error(`the service is not ready: ${missing.join(', ')}`)
    await setTimeout(LOOK_MS)
  }
}

const REPEAT_MS = 100
/** How long a request is repeated: then a test sees the last answer instead of waiting for ever. */
const REPEATED_MS = 60_000
/** The error of an `inject` whose answer the service has broken off, as a long list that waits for too long. */
const BROKEN_OFF = 'response destroyed before completion'

/** Whether a request has waited for too long. Whoever is refused for another reason is told which one. */
const isLate = ({ statusCode, payload }: LightMyRequestResponse): boolean =>
  statusCode === 503 && (payload.includes(NOT_NOW) || payload.includes(REOPENING))

/**
 * Repeats requests that are not answered in time, as clients do: on a busy machine any may have to wait for longer than five seconds, and a node
 * whose log has changed is opened again. The result is for tests of what is answered then: no request that begins during `work` is repeated.
 */
const newRepeating = () => {
  let inject: (asked: InjectOptions) => Promise<LightMyRequestResponse>
  let repeats = true
  const repeated = async (asked: InjectOptions) => {
    const end = performance.now() + (repeats && !asked.payloadAsStream ? REPEATED_MS : 0)
    for (;;) {
      const isLast = performance.now() >= end
      const answer = await inject(asked).catch((error: Error) => {
        if (isLast || error.message !== BROKEN_OFF) throw error
      })
      if (answer && (isLast || !isLate(answer))) return answer
      await setTimeout(REPEAT_MS)
    }
  }
  const use = (app: FastifyInstance) => {
    inject = app.inject.bind(app) as typeof inject
    app.inject = repeated as typeof app.inject
  }
  const unrepeated = async <T>(work: () => Promise<T>): Promise<T> => {
    repeats = false
    try {
      return await work()
    } finally {
      repeats = true
    }
  }
  return { use, unrepeated }
}

/** The whole service on a database, without a socket unless a `front` is given. Several of them on one database are nodes of one service. */
export const openApp = async (databaseUrl: string, options: OpenOptions = {}) => {
  const config = readConfig({
    RATE_LIMITS: 'off',
    CATALOGUE_URL: 'none',
    DATABASE_CONNECTIONS: '30', // the minimum, because test files that run at once share the server
    ...logEnvironment(databaseUrl),
    ...options.env,
  })
  const {
    now = Date.now,
    logger = pino({ level: 'silent' }),
    groups,
    ready = true,
    isDiskLow,
    dataDir,
    front,
  } = options
  const { use, unrepeated } = newRepeating()
  const node = await openNode({
    config,
    databaseUrl,
    logger,
    now,
    ...(groups ? { groups } : {}),
    ...(isDiskLow ? { isDiskLow } : {}),
    ...(dataDir ? { dataDir } : {}),
    front: {
      use: (app) => {
        use(app)
        front?.use(app.server)
      },
      drain: async (server, ms) => front?.drain(server, ms),
    },
  })

  const call: Call = async (method, url, { token, body, headers = {} } = {}) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await node
      .app()
      .inject({ method, url, headers: { ...authorization, ...type, ...headers }, ...payload })
    const { data, error } = answer.json()
    return { status: answer.statusCode, data: data as never, error }
  }

  /** A node that a test has closed stays so at the end of its world. */
  const close = () => {
    front?.close()
    return node.close('fast')
  }
  if (ready)
    await untilReady(node.service).catch(async (error) => {
      await close()
      throw error
    })
  return {
    /** The routes; others once the node was opened again. */
    get app() {
      return node.app()
    },
    /** The service; another one once the node was opened again. */
    get service() {
      return node.service()
    },
    call,
    unrepeated,
    close,
  }
}

export type App = Awaited<ReturnType<typeof openApp>>
