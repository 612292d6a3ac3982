import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSigner, type Signer } from '../../../src/server/proof/note.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, openEmptyWorld } from '../../support/world.ts'

const test = suite('a log whose key was made before the service had an address')
const { openNode } = await openEmptyWorld(test, { env: { ...WITH_WORKER, AUDIT_PUBLIC: 'on' } })

test('is warned of at each start, until its checkpoints have the name of a host', async () => {
  const [unnamed, named] = ['tracebook.invalid/log', 'traces.example.org'].map((name) => generateSigner(name))
  /** Starts a service with this key, and returns the number of its warnings about checkpoints once one of them has the name of the key. */
  const warningsOf = async ({ text, name }: Signer, env: Record<string, string>) => {
    const warnings: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
    const app = await openNode({ logger, env: { AUDIT_KEY: text, ...env } })
    // Until it is the leader and has signed, there is none, or one of the key before.
    await until(async () => (await app.app.inject('/v1/audit/checkpoint')).body.startsWith(`${name}\n`))
    await app.close()
    return warnings.filter((warning) => warning.startsWith('checkpoints name the log')).length
  }
  const PUBLIC_URL = 'https://traces.example.org'
  assert.is(await warningsOf(unnamed!, {}), 0)
  for (const _ of [1, 2]) assert.is(await warningsOf(unnamed!, { PUBLIC_URL }), 1)
  assert.is(await warningsOf(named!, { PUBLIC_URL }), 0)
})

test.run()
