import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSigner } from '../../src/proof/note.ts'
import { freshDatabase } from '../support/database.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('a log whose key was made before the service had an address')

test('is warned of at each start, until its checkpoints have the name of a host', async () => {
  const database = await freshDatabase()
  /** Starts a service with this key, and returns its warnings about checkpoints and the first line of one. */
  const start = async (key: string, env: Record<string, string>) => {
    const warnings: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
    const app = await openApp(database.url, { logger, env: { AUDIT_KEY: key, AUDIT_PUBLIC: 'on', ...env } })
    const { body, statusCode } = await app.app.inject('/v1/audit/checkpoint')
    assert.is(statusCode, 200)
    await app.close()
    return [body.split('\n')[0], warnings.filter((text) => text.startsWith('checkpoints name the log')).length]
  }
  const PUBLIC_URL = 'https://traces.example.org'
  const [unnamed, named] = ['tracebook.invalid/log', 'traces.example.org'].map((name) => generateSigner(name).text)
  try {
    assert.equal(await start(unnamed!, {}), ['tracebook.invalid/log', 0])
    for (const _ of [1, 2]) assert.equal(await start(unnamed!, { PUBLIC_URL }), ['tracebook.invalid/log', 1])
    assert.equal(await start(named!, { PUBLIC_URL }), ['traces.example.org', 0])
  } finally {
    await database.drop()
  }
})

test.run()
