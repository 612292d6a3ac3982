import { Command } from 'commander'
import { z } from 'zod'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../../cli/exit.ts'
import { pause } from '../../pause.ts'
import { Bundle, checkBundle } from '../../proof/bundle.ts'
import { serverAddress } from '../../sync/config.ts'
import { openAuditClient } from './audit-client.ts'

const help = `
Prints a bundle: the event, the way from it to a signed checkpoint of the log, and the key of the log. It can
be checked without the service: tracebook audit verify --offline BUNDLE

  tracebook audit proof 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b 3 > bundle.json

Needs a login as a member of the trace's namespace. An event that is seconds old is waited for.

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder of the login, instead of the platform's own

Exit codes: 0 printed, 1 the server refused, 2 wrong usage`

/** How long to wait for a checkpoint that covers the event. */
const WAIT_MS = 20_000

const EventProof = Bundle.omit({ key: true })
const Key = z.object({ key: z.string() })

const proof = async (trace: string, revision: string, options: { readonly server?: string }): Promise<number> => {
  if (!/^\d{1,16}$/.test(revision)) throw new UsageError(`"${revision}" is no revision: a whole number from 0 on`)
  const client = await openAuditClient(serverAddress(options.server, process.env))
  const path = `/v1/traces/${encodeURIComponent(trace)}/events/${revision}/proof`
  for (const until = performance.now() + WAIT_MS; ;) {
    const found = await client.dataSoon(path, EventProof)
    if (!('retryAfter' in found)) {
      const { key } = await client.data('/v1/audit/key', Key)
      const bundle = { ...found, key }
      checkBundle(bundle)
      console.log(JSON.stringify(bundle, null, 2))
      return exitCodes.ok
    }
    if (performance.now() > until) throw new Error('no checkpoint covers the event yet: try again')
    await pause(found.retryAfter * 1_000)
  }
}

/** `tracebook audit proof` */
export const proofCommand = (): Command =>
  new Command('proof')
    .description('Print a proof that an event of a trace is in the log')
    .argument('<trace>', 'the externalId of the trace')
    .argument('<revision>', 'the revision of the event in the trace')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((trace: string, revision: string, options: { readonly server?: string }) =>
      runCommand(() => proof(trace, revision, options)),
    )
