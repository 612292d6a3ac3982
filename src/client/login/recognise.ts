import { askService, askServiceOnce } from '../api/service.ts'
import type { RetryTiming } from '../api/retry.ts'
import {
  allCredentials,
  type Credentials,
  formerlyAt,
  isUsed,
  readCredentials,
  writeCredentials,
} from './credentials.ts'

/** What the service at an address is to this machine, by the log that it says it has. */
export type Recognised = { readonly log: string | undefined } & (
  | { readonly is: 'new' }
  /** The one that was known at this address. */
  | { readonly is: 'known' }
  /** One that is known at other addresses, or another service that says so. */
  | { readonly is: 'elsewhere'; readonly log: string; readonly known: readonly Credentials[] }
  /** Another one than that which is or was known at this address. */
  | { readonly is: 'replaced'; readonly known: Credentials }
)

/** The log of a known service. One whose credentials are from an older version is asked. */
const logOf = async (config: string, known: Credentials): Promise<string | undefined> => {
  if (known.log !== undefined) return known.log
  const said = await askServiceOnce(known.server).catch(() => undefined)
  if (said) await writeCredentials(config, { ...known, log: said.log })
  return said?.log
}

const differ = (known: string | undefined, said: string | undefined) =>
  known !== undefined && said !== undefined && known !== said

/**
 * Recognises the service at an address before anything is sent to it. Makes nothing there, and sends no credential: what a
 * service says of itself proves nothing. @throws RequestFailed
 */
export const recognise = async (config: string, server: string, timing: RetryTiming): Promise<Recognised> => {
  const log = (await askService(server, timing))?.log
  const here = await readCredentials(config, server)
  if (here && isUsed(here)) return differ(here.log, log) ? { is: 'replaced', log, known: here } : { is: 'known', log }
  const former = formerlyAt(config, server)
  if (former && former.log !== log) return { is: 'replaced', log, known: former }
  if (log === undefined) return { is: 'new', log }
  const known: Credentials[] = []
  for (const one of allCredentials(config).filter(isUsed)) if ((await logOf(config, one)) === log) known.push(one)
  return known.length > 0 ? { is: 'elsewhere', log, known } : { is: 'new', log }
}
