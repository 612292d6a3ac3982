import { homedir } from 'node:os'
import { agents } from '../../src/client/agents/index.ts'
import { findSessionFiles } from '../../src/client/agents/session-files.ts'
import { newApiClient } from '../../src/client/api/client.ts'
import { connect } from '../../src/client/login/connect.ts'
import { readRedactionOptions } from '../../src/client/redaction/options.ts'
import { keepHeapSmall, syncFiles } from '../../src/client/upload/sync-files.ts'
import { openSyncState } from '../../src/client/state/sync-state.ts'
import { newUploader } from '../../src/client/state/uploader.ts'
import { always } from '../../src/client/upload/destination.ts'

/** What the process says when it is done. `ms` is without the start of the process, `megabytes` its largest resident memory. */
export type ClientRun = {
  readonly messages: number
  readonly exitCode: number
  readonly ms: number
  readonly cpuMs: number
  readonly megabytes: number
}

// `tracebook sync` without its terminal, on which it asks before secrets are sent.
const [config = '', server = '', kind] = process.argv.slice(2)
keepHeapSmall()
const started = performance.now()
const before = process.cpuUsage()
const files = await findSessionFiles(agents, [], { env: process.env, home: homedir() }, () => {})
const connection = await connect({ config, server, readOnly: false }, newApiClient)
const origins = openSyncState({ folder: config, config })
const states = await origins.of({ server, ...connection })
const redaction = kind === 'redacted' ? await readRedactionOptions(config) : undefined
const destinationOf = always({ connection, states })
const asUploader = newUploader({ stateFolder: config, config, server })
const run = { destinationOf, origins, asUploader, redaction, dryRun: false, force: false, report: () => {} }
const { messages, exitCode } = await syncFiles(run, files, 0)
const ms = performance.now() - started
const { user, system } = process.cpuUsage(before)
const megabytes = (process.resourceUsage().maxRSS * 1_024) / 1e6
const measured: ClientRun = { messages, exitCode, ms, cpuMs: (user + system) / 1_000, megabytes }
console.log(JSON.stringify(measured))
