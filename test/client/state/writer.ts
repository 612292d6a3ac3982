import { openSyncState } from '../../../src/client/state/sync-state.ts'

// Acknowledges messages of a session of its own, as one of several processes.
const [folder = '', name = '', count = ''] = process.argv.slice(2)
const state = openSyncState({ folder, config: folder })
const states = await state.of({ server: 'http://s', namespaceId: 'n', logId: 'log' })
const session = {
  source: `/${name}`,
  agentId: 'codex',
  sessionId: name,
  externalId: name,
  status: 'stored' as const,
  fields: new Map(),
  files: new Map([[`/${name}`, undefined]]),
}
states.write(session)
for (let i = 0; i < Number(count); i++)
  states.note(session, [{ externalId: `m-${i}`, digest: new Uint8Array([i]) }], { from: undefined, to: undefined })
states.complete({ ...session, files: new Map([[`/${name}`, 'complete']]) }, true)
state.close()
