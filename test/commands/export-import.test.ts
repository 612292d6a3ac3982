import { existsSync, readFileSync, readdirSync, statSync, writeFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDuties } from '../../src/client/state/duties.ts'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { inWorld } from './support/world.ts'

const test = suite('export and import against the service')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
const session = '5e550000-0000-4000-8000-000000000001'

test('a session is written as a file, and put back after it was deleted', () =>
  inWorld(async ({ url, folder, user }) => {
    cpSync(fixtures, user.claude, { recursive: true })
    assert.is((await user.run('sync')).how, 0)
    const token = tokenIn(user.config)
    const file = join(folder, 'session.json')
    const page = join(folder, 'session.html')

    const markdown = await user.run('export', session)
    assert.equal([markdown.how, markdown.err], [0, ''])
    assert.match(markdown.out, /^# .+\n\n[\s\S]*## Prompt 1\n/)
    assert.equal((await user.run('export', session, '--output', page)).how, 0)
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*<\/html>\n$/)
    assert.is((await user.run('export', session, '-o', file)).how, 0)
    assert.is(statSync(file).mode & 0o777, 0o600)
    const [told] = (await runJson(user, 'export', session.slice(0, 8), '--output', page)).documents
    assert.equal([told!['externalId'], told!['bytes']], [session, statSync(page).size])
    assert.is((await user.run('export', session, '--json')).how, 2)

    const before = JSON.parse(readFileSync(file, 'utf8')) as { trace: { messageCount: number } }
    await ask(url, `/v1/traces/${session}`, { token, method: 'DELETE' })
    const missing = await user.run('export', session, '--output', join(folder, 'none.md'))
    assert.is(missing.how, 2)
    assert.match(missing.err, `There is no trace "${session}" that you may read. To list your traces, run:`)
    assert.not(existsSync(join(folder, 'none.md')))
    assert.equal(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    )

    const damaged = join(folder, 'damaged.json')
    writeFileSync(damaged, readFileSync(file, 'utf8').slice(0, -20))
    const refused = await user.run('import', damaged)
    assert.is(refused.how, 1)
    assert.match(refused.err, /damaged\.json cannot be imported: it ends in the middle of a value\n$/)

    const { messageCount } = before.trace
    const first = await user.run('import', file, '--json')
    assert.equal([first.how, first.err], [0, ''])
    const { type, messages, new: created, visibility } = JSON.parse(first.out)
    assert.equal([type, messages, created, visibility], ['import', messageCount, messageCount, 'private'])
    const again = await user.run('import', file)
    assert.match(again.out, `${messageCount} messages (0 new, 0 updated, ${messageCount} unchanged)\n`)

    const duties = openDuties(user.config, url)
    const { trace } = await ask<{ trace: { namespace: { slug: string } } }>(url, `/v1/traces/${session}`, { token })
    await duties.add({ namespace: trace.namespace.slug, externalId: session, source: file, hashes: [] })
    const owing = await user.run('import', file)
    assert.equal([owing.how, await duties.all()], [0, []])
    assert.match(owing.err, 'the past of the trace, which had it, was erased')

    for (const args of [
      ['export'],
      ['import'],
      ['import', join(folder, 'nothing.json')],
      ['export', session, '--format', 'pdf'],
      ['export', session, '--revision', 'x'],
      ['export', session, '--output', folder],
      ['export', session, '--output', join(folder, 'no-folder', 'x.md')],
    ])
      assert.is((await user.run(...(args as [string]))).how, 2, args.join(' '))
  }))

test.run()
