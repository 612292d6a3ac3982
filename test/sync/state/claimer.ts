import { openSyncState } from '../../../src/sync/state/sync-state.ts'

// Works on a source for ever, as another process; says so once it does.
const [folder = '', source = ''] = process.argv.slice(2)
const state = openSyncState({ folder, config: folder })
await state.alone(source, { waitMs: 0 }, () => {
  process.send!('working')
  return new Promise(() => setInterval(() => {}, 1_000))
})
