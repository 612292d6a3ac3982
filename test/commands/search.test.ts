import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import { inOwnWorld, namespaceOf } from './support/world.ts'

const test = suite('tracebook search')

test('traces that the user may read are found, with links to the messages', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    const slug = await namespaceOf(url, user)
    await putTrace(user, 'one', { title: 'Mend the login' }, [
      'Why does the\nlogin \u001b[31m \u0007fail?',
      'because of getUserName',
    ])
    await putTrace(user, 'open', { title: 'Other', visibility: 'public' }, ['A public login'])
    await until(
      async () => (await user.run('search', 'login')).out.match(/^Mend the login\n[^]*A public login/m) !== null,
    )

    const found = await user.run('search', 'UserName')
    assert.equal([found.how, found.err], [0, ''])
    assert.match(found.out, `  assistant: because of getUserName\n  ${url}/@${slug}/one?m=m-1\n`)
    assert.match((await user.run('search', '"why does the" fail')).out, '  user: Why does the login \\u0007fail?\n')
    const { documents } = await runJson(user, 'search', 'UserName')
    assert.is((documents[0] as unknown as { hits: { ordinal: number }[] }).hits[0]!.ordinal, 1)

    const hour = 3_600_000
    const [before, after] = [-hour, hour].map((ms) => new Date(Date.now() + ms).toISOString())
    const isFound = async (...times: string[]) => (await user.run('search', 'UserName', ...times)).out !== ''
    assert.ok(await isFound('--since', before!, '--until', after!))
    assert.not(await isFound('--since', after!))
    assert.not(await isFound('--until', before!))
    assert.is((await user.run('search', 'UserName', '--since', 'someday')).how, 2)

    const none = await user.run('search', 'nothing')
    assert.equal([none.how, none.out], [0, ''])
    assert.match(none.err, 'Nothing was found for nothing.')
    assert.is((await user.run('search')).how, 2)
    assert.match((await user.run('search', 'login', 'projct:one')).err, 'Instead of projct:one try project:one.')

    const other = await newUser('bob')
    const started = { title: 'Helper', visibility: 'public' }
    await putTrace(user, 'helper', { ...started, parentExternalId: 'one' }, ['a pincushion'])
    await putTrace(user, 'fork', { ...started, parentExternalId: 'one', parentKind: 'fork' }, ['a thimble'])
    await until(async () => (await user.run('search', 'thimble')).out !== '')
    assert.match(
      (await user.run('search', 'pincushion')).out,
      `\n  sub-agent of Mend the login  ${url}/@${slug}/one\n  user: a pincushion\n`,
    )
    assert.match((await other.run('search', 'pincushion')).out, /^Helper\n/)
    for (const [who, word] of [
      [other, 'pincushion'],
      [user, 'thimble'],
    ] as const)
      assert.not.match((await who.run('search', word)).out, 'sub-agent of')

    assert.match((await other.run('search', 'login', '--newest')).out, /^Other\n/)
    assert.not.match((await other.run('search', 'login')).out, 'Mend')
    assert.match((await other.run('search', 'login', '--namespace', 'none')).err, 'Nothing was found')
    if (!hasTerminals) return
    const { out } = await runOnTerminal(user, {}, 'search', 'UserName')
    assert.match(out, 'get\u001b[1m\u001b[33mUserName')
  }))

test.run()
