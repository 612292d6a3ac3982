import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '../../support/until.ts'

export type Mode = 'fail' | 'hang' | 'answer'

const content = JSON.stringify({ title: 'From the model', summary: 'It was made.' })

/** A provider's endpoint that fails, hangs or answers, and counts. */
export const openEndpoint = async () => {
  let mode: Mode = 'answer'
  let asked = 0
  const respond = (response: ServerResponse) => {
    if (mode === 'hang') return
    response.writeHead(mode === 'fail' ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }))
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1
      respond(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = {
    SUMMARY_PROVIDER: 'openai',
    SUMMARY_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    SUMMARY_MODEL: 'm',
    SUMMARY_ATTEMPTS: '1',
  }
  return {
    env,
    set: (next: Mode) => {
      mode = next
    },
    asked: () => asked,
    reset: () => {
      asked = 0
    },
    asking: (times: number) => until(async () => asked >= times || undefined),
    /** Breaks off what has not been answered. */
    hangUp: () => server.closeAllConnections(),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A worker process that uses the endpoint. */
export const startWorker = async (url: string, env: Record<string, string>): Promise<ChildProcess> => {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'worker.ts')], {
    env: { ...process.env, ...env, SUMMARY_DEBOUNCE_MS: '50', SUMMARY_THRESHOLD: '3', WORKER_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(worker.stdout!, 'data')
  return worker
}
