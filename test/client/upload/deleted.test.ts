import { appendFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/client/agents/support/sqlite/load.ts'
import { summaryText } from '../../../src/client/report/text.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import type { Machine } from '../support/machine.ts'
import { moves, writeInProject, writeRollout, type Written } from '../support/moves.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { userLine } from '../support/session-file.ts'
import { tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('a session whose trace was deleted is left alone')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

/** What happens to a session after the deletion; gives that session on the machine that syncs then, where it is another one. */
type Case = {
  readonly write: (machine: Machine) => Written
  readonly happens: (written: Written, machine: Machine, service: RealService) => Written | void
}

const beginEpoch = (_: Written, { config }: Machine): void => {
  const database = openDatabase(join(config, 'data', STATE_FILE))
  database.exec(`UPDATE destination SET log = 'the one before'`)
  database.close()
}

const onSecondMachine = (_: Written, machine: Machine, service: RealService): Written => {
  const second = service.another(machine)
  cpSync(machine.sessions, second.sessions, { recursive: true })
  return { ..._, sync: second.sync }
}

const cases: Readonly<Record<string, Case>> = {
  'when Codex archives it': { write: writeRollout, happens: moves['archived by Codex'].move },
  'when Codex compresses it': { write: writeRollout, happens: moves['compressed by Codex'].move },
  'when the folder of its project gets another name': {
    write: writeInProject,
    happens: moves['in a folder that got another name'].move,
  },
  'when it grows': {
    write: writeInProject,
    happens: ({ file, id }) => appendFileSync(file, `${userLine('u-9', 'more', { sessionId: id })}\n`),
  },
  'when the notes of the client are lost': {
    write: writeInProject,
    happens: (_, { config }) => rmSync(join(config, 'data'), { recursive: true }),
  },
  'when the log begins a new epoch': { write: writeInProject, happens: beginEpoch },
  'on a second machine': { write: writeInProject, happens: onSecondMachine },
}

/** A session that was uploaded, and whose trace was deleted then. */
const uploadAndDelete = async (service: RealService, write: Case['write']) => {
  const machine = await service.logIn()
  const written = write(machine)
  await written.sync()
  const [token, path] = [await tokenOf(machine), `/v1/traces/${written.id}`]
  const status = async () => (await service.call('GET', path, { token })).status
  assert.is((await service.call('DELETE', path, { token })).status, 200)
  return { machine, written, status }
}

for (const [when, { write, happens }] of Object.entries(cases))
  test(`a deleted trace is not uploaded again ${when}, which is said`, async ({ service }) => {
    const { machine, written, status } = await uploadAndDelete(service, write)
    const { sync } = happens(written, machine, service) ?? written
    const { summary, events } = await sync()
    assert.equal([summary.deleted, summary.unchanged, summary.exitCode], [1, 0, 0])
    assert.match(JSON.stringify(events), 'its trace was deleted on the service: left alone')
    assert.is(await status(), 404)
    assert.is((await sync()).summary.deleted, 1)
    assert.is(await status(), 404)
  })

test('a deleted trace is reported, remembered without further requests, and uploaded again with --force', async ({
  service,
}) => {
  const { machine, written, status } = await uploadAndDelete(service, writeInProject)
  const second = service.another(machine)
  cpSync(machine.sessions, second.sessions, { recursive: true })
  const first = await second.sync()
  assert.is(first.summary.deleted, 1)
  assert.match(summaryText(first.summary), /^nothing was sent: 1 session was deleted on the service: left alone/)
  assert.match(JSON.stringify(first.events), /its trace was deleted on the service: left alone \(--force/)

  appendFileSync(
    join(second.sessions, '-w-app', `${written.id}.jsonl`),
    `\n${userLine('u-2', 'more', { sessionId: written.id })}\n`,
  )
  service.requests.length = 0
  for (const visibility of [undefined, 'direct'] as const) {
    const again = await second.sync(visibility ? { visibility } : {})
    assert.equal([again.summary.deleted, again.summary.exitCode], [1, 0])
    assert.not.match(JSON.stringify(again.events), /left alone/)
  }
  assert.is((await second.sync({ dryRun: true })).summary.deleted, 1)
  assert.equal(
    service.requests.filter(({ url }) => url.includes(written.id)),
    [],
  )

  assert.is((await second.sync({ force: true })).summary.new, 2)
  assert.is(await status(), 200)
  assert.is((await second.sync()).summary.unchanged, 1)
})

test.run()
