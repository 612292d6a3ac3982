import { z } from 'zod'
import { commandName } from '../../cli/command-name.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printLines } from '../../cli/output.ts'
import { pause } from '../../base/waits.ts'
import { Bundle, checkBundle } from '../../server/proof/bundle.ts'
import { openAccess } from '../support/access.ts'
import { findTrace } from '../support/find-trace.ts'
import { openAuditClient } from './audit-client.ts'

/** How long to wait for a checkpoint that includes the event. */
const WAIT_MS = 20_000

const EventProof = Bundle.omit({ key: true })

const Key = z.object({ key: z.string() })

export const proof = async (options: { readonly server?: string }, name: string, revision: string): Promise<number> => {
  if (!/^\d{1,16}$/.test(revision))
    throw new UsageError(`"${revision}" is not a revision: it must be a whole number from 0 on.`)
  const { access, trace } = await findTrace(openAccess(options), options, name)
  const { externalId, namespace } = trace
  const client = await openAuditClient(access.server)
  const query = `?${new URLSearchParams({ namespace: namespace.slug })}`
  const path = `/v1/traces/${encodeURIComponent(externalId)}/events/${revision}/proof${query}`
  for (const until = performance.now() + WAIT_MS; ;) {
    const found = await client.dataSoon(path, EventProof)
    if (found === undefined)
      throw new UsageError(
        `The trace "${externalId}" has no revision ${revision}. To list its revisions, run: ${commandName} audit log ${externalId}`,
      )
    if (!('retryAfter' in found)) {
      const { key } = await client.data('/v1/audit/key', Key)
      const bundle = { ...found, key }
      checkBundle(bundle)
      await printLines(JSON.stringify(bundle, null, 2).split('\n'))
      return exitCodes.ok
    }
    if (performance.now() > until) throw new Error('There is no checkpoint with this event yet: try again later.')
    await pause(found.retryAfter * 1_000)
  }
}
