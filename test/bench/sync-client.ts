import { homedir } from 'node:os'
import { agents } from '../../src/sync/agents/index.ts'
import { findSessionFiles } from '../../src/sync/agents/session-files.ts'
import { newApiClient } from '../../src/sync/api/client.ts'
import { connect } from '../../src/sync/login/connect.ts'
import { readRedactionOptions } from '../../src/sync/redaction/options.ts'
import { always } from '../../src/sync/upload/destination.ts'
import { openSyncState } from '../../src/sync/state/sync-state.ts'
import { syncFiles } from '../../src/sync/upload/sync-files.ts'

// `tracebook sync` without its terminal, which asks before secrets are sent.
const [config = '', server = '', folder = '', redacts] = process.argv.slice(2)
const started = performance.now()
const files = await findSessionFiles(agents, [folder], { env: process.env, home: homedir() }, () => {})
const connection = await connect({ config, server, readOnly: false }, newApiClient)
const state = openSyncState({ folder: config, config })
const states = await state.of({ server, ...connection })
const redaction = redacts === 'redacted' ? await readRedactionOptions(config) : undefined
const job = {
  destinationOf: always({ connection, states }),
  origins: state,
  redaction,
  dryRun: false,
  force: false,
  report: () => {},
}
const { messages, exitCode } = await syncFiles(job, files, 0)
const ms = performance.now() - started
const { user, system } = process.cpuUsage()
console.log(
  JSON.stringify({
    messages,
    ms,
    exitCode,
    cpu: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1_024,
  }),
)
