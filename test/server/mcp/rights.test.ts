import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callers, openTeam, standingOf } from '../../access/team.ts'
import { type ToolResult, callTool, edited, putTrace, rpc, untilFound } from './support.ts'

const test = suite('who reads what by the tools of the protocol')
const { app, team } = await openTeam(test)
const visibilities = ['private', 'direct', 'public'] as const
const { creator } = team
for (const visibility of visibilities)
  await putTrace(creator, `s-${visibility}`, { visibility, title: `a ${visibility} secret` }, edited)

await untilFound(app, creator.token, 'secret', 3)

const questions = ['get_session', 'read_messages', 'files_of'] as const

/** What is the same for all sessions stands in the list. */
const visibilitiesIn = ({ structuredContent }: ToolResult, name: 'sessions' | 'results'): (string | undefined)[] => {
  const { visibility, [name]: sessions } = structuredContent!['quotes'] as Record<string, unknown>
  return (sessions as { visibility?: string }[]).map((one) => one.visibility ?? (visibility as string))
}

for (const caller of callers) {
  test(`${caller} gets the same from the tools as from the API, and no more`, async () => {
    const standing = standingOf(caller)
    const token = team.tokenOf(caller, 'elsewhere')
    if (standing === 'nobody') return assert.is((await rpc(app, token, 'tools/list')).status, 401)
    const mayReadAll = standing !== 'stranger'
    for (const visibility of visibilities)
      for (const name of questions)
        for (const namespace of [{ namespace: team.slug }, {}]) {
          const args = { session: `s-${visibility}`, ...namespace }
          const { isError = false, content } = await callTool(app, token, name, args)
          const mayRead = mayReadAll || visibility === 'public'
          assert.is(isError, !mayRead, `${name} of ${visibility}`)
          if (mayRead) continue
          const unknown = await callTool(app, token, name, { session: 'never-heard-of', ...namespace })
          assert.equal(content, unknown.content, 'as if there were none')
        }
    const found = await callTool(app, token, 'search_sessions', { query: 'secret' })
    const visible = visibilitiesIn(found, 'results').sort()
    assert.equal(visible, mayReadAll ? ['direct', 'private', 'public'] : ['public'])
    const listed = await callTool(app, token, 'list_sessions', { namespace: team.slug })
    const shown = visibilitiesIn(listed, 'sessions')
    assert.is(
      shown.some((visibility) => visibility !== 'public'),
      mayReadAll,
    )
    assert.ok(shown.includes('public'))
  })
}

test('a caller who loses the right while a session is read gets nothing of it', async () => {
  const { reads } = app.service
  const { rows } = reads
  const stranger = team.tokenOf('stranger', 'elsewhere')
  const args = { session: 's-public', namespace: team.slug }
  for (const name of questions) {
    Object.assign(reads, {
      rows: async (statement: string, ...rest: [string, unknown[]]) => {
        const found = await rows(statement, ...rest)
        if (!/^messages-(parts|chunk)/.test(statement)) return found
        Object.assign(reads, { rows })
        await creator.send('PATCH', '/v1/traces/s-public', { visibility: 'private' })
        return found
      },
    })
    const { isError, content } = await callTool(app, stranger, name, args)
    assert.is(reads.rows, rows, 'it was read in between')
    assert.is(isError, true, name)
    assert.not.match(JSON.stringify(content), 'secret|parser')
    await creator.send('PATCH', '/v1/traces/s-public', { visibility: 'public' })
  }
})

test.run()
