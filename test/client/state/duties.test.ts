import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Credentials, moveCredentials, writeCredentials } from '../../../src/client/login/credentials.ts'
import { openDuties } from '../../../src/client/state/duties.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { config: string; remove: () => void }
const test = suite<Context>('duties')
test.before.each((context) => {
  const { path: config, remove } = tempFolder()
  Object.assign(context, { config, remove })
})
test.after.each(({ remove }) => remove())

const [FORMER, PRESENT] = ['http://127.0.0.1:3000', 'https://traces.example']
const login = { token: 't', userId: 'u', namespaceId: 'n', namespaceSlug: 's', at: 1 }
const at = (server: string, name: string): Credentials => ({
  server,
  log: 'the log',
  name,
  deviceId: '0192f0c1-2b3d-4e4f-8a5b-6c7d8e9f0a1b',
  login,
  others: [],
})

for (const name of ['the log', FORMER])
  test(`are those of one service for a process that still uses its former address, if its name is ${name}`, async ({
    config,
  }) => {
    const former = at(FORMER, name)
    await writeCredentials(config, former)
    const running = openDuties(config, FORMER)
    await moveCredentials(config, at(PRESENT, PRESENT), former)
    const late = openDuties(config, FORMER)
    for (const [externalId, duties] of Object.entries({ running, late }))
      await duties.add({ namespace: 's', externalId, source: 'a file', hashes: [] })
    const present = openDuties(config, PRESENT)
    const owed = await present.all()
    assert.equal(owed.map(({ externalId }) => externalId).sort(), ['late', 'running'])
    await running.remove(await running.all())
    assert.equal(await present.all(), [])
  })

test.run()
