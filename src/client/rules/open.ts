import type { Connection } from '../login/connect.ts'
import type { RedactionOptions } from '../redaction/session.ts'
import { openResumed } from '../state/resumed.ts'
import type { SessionStates } from '../state/session-states.ts'
import type { Run } from '../upload/run.ts'
import { newAskFor } from './ask.ts'
import { type Asking, terminalAsking } from './confirm-public.ts'
import { type Known, newDecisions } from './decide.ts'
import { newDestinations } from './destinations.ts'
import { inRepository } from './in-repository.ts'
import { newProjectRules, type RulesFolders } from './project-rules.ts'
import { openTrust } from './trust.ts'

type Options = Omit<RulesFolders, 'remembers'> & {
  readonly server: string
  /** What the command line asks for. */
  readonly asked: Known['asked']
  /** Whether the user agrees to everything without being asked. */
  readonly yes: boolean
  /** A dry run shows what would become public, and asks for nothing. */
  readonly dryRun: boolean
  readonly redaction: RedactionOptions | undefined
  readonly connection: Connection
  readonly connect: (slug: string) => Promise<Connection>
  readonly statesOf: (connection: Connection) => Promise<SessionStates>
  readonly asking?: Asking
}

/**
 * What a run needs to send each session where the rules of its project say. May be used for days, because rules are read again.
 * Throws UsageError if the user's rules cannot be used.
 */
export const openRules = async (
  options: Options,
): Promise<Pick<Run, 'destinationOf' | 'placeIn' | 'completeTrace' | 'resumedFrom' | 'askFor'>> => {
  const { config, server, dryRun, asking = terminalAsking() } = options
  const rules = newProjectRules({ ...options, remembers: !dryRun })
  const trust = openTrust(config, server)
  // So that a mistake is reported once, and not for each session.
  await rules.of(undefined)
  const decisionFor = newDecisions({ ...options, loginNamespace: options.connection.namespaceSlug, rules, trust })
  const destinations = newDestinations({ ...options, decisionFor })
  return {
    destinationOf: destinations.destinationOf,
    placeIn: destinations.placeIn,
    completeTrace: (fields, at) => inRepository(fields, at, rules),
    resumedFrom: openResumed(config).originOf,
    askFor: dryRun ? undefined : newAskFor({ ...options, destinations, trust }, asking),
  }
}
