import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commits, recordCommit, removeCommit } from '../../../src/server/commit/decide.ts'
import type { CommitEvent, Recorded } from '../../../src/server/commit/events.ts'
import { repositoryOf } from '../../../src/server/commit/repository.ts'
import { specify } from '../../support/given.ts'

const test = suite('commit')

const recorded: Recorded = {
  ...{ namespaceId: 'n', repository: 'host/team/app', sha: 'a'.repeat(40), at: 1 },
  lines: { total: 2, weak: 0, replaced: 0, run: 1, moved: 0, unknown: 1 },
  traces: [{ traceId: 't', createdAt: 1, replaced: 0, run: 1 }],
}
const was = (data: Recorded, userId = 'ada') => ({ type: 'CommitRecorded' as const, data, actor: { userId } })
const isRecorded = (data: Recorded): CommitEvent => ({ type: 'CommitRecorded', data })
const removed: CommitEvent = { type: 'CommitRemoved', data: { namespaceId: 'n' } }

const commit = specify(commits)

test('a commit is recorded, and an equal record is none', () => {
  commit().when(recordCommit(recorded)).emits(isRecorded(recorded))
  commit(was(recorded))
    .when(recordCommit(structuredClone(recorded)))
    .emits()
})

test('another answer takes the place of the first', () => {
  const other = { ...recorded, traces: [] }
  commit(was(recorded)).when(recordCommit(other)).emits(isRecorded(other))
})

test('who recorded it, or an admin, removes it', () => {
  const by = (userId: string, isAdmin = false) => removeCommit({ userId, isAdmin })
  commit(was(recorded)).when(by('ada')).emitsOnce('not_found', removed)
  commit(was(recorded)).when(by('bob', true)).emitsOnce('not_found', removed)
  commit(was(recorded)).when(by('bob')).rejects('forbidden')
  commit(was(recorded), removed).when(by('ada', true)).rejects('not_found')
  commit().when(by('ada')).rejects('not_found')
})

test('all addresses of a repository are one', () => {
  for (const address of [
    'git@codehost.example:Team/App.git',
    'https://codehost.example/team/app',
    'ssh://git@codehost.example:2222/team/app.git',
    'https://user:secret@codehost.example/team/app/',
    'https://user:se@cret@codehost.example/team/app',
    'codehost.example:team/app.git',
  ])
    assert.is(repositoryOf(address), 'codehost.example/team/app', address)
  assert.is(repositoryOf('/srv/git/app.git'), 'srv/git/app')
})

test.run()
