import { errorMessage, UsageError } from '../../cli/exit.ts'
import type { Connection } from '../login/connect.ts'
import type { SessionStates } from '../state/session-states.ts'
import type { Destination, DestinationOf, Held, NotSent, Origin, PlaceIn } from '../upload/destination.ts'
import type { Visibility } from '../upload/upsert-trace.ts'
import { type Decision, type DecisionFor, untrustedText } from './decide.ts'
import type { RuleSource } from './rule.ts'

/** What the user has to agree to before a session is sent. */
export type Agreement =
  | { readonly to: 'namespace'; readonly namespace: string; readonly rule: RuleSource }
  | {
      readonly to: 'public'
      readonly because: string
      /** Its destination once the user agrees. */
      readonly destination: Destination
    }

export type Destinations = {
  readonly destinationOf: DestinationOf
  readonly placeIn: PlaceIn
  /** The agreement that a session waits for; undefined for one that is sent, or never sent. */
  readonly agreementFor: (origin: Origin) => Promise<Agreement | undefined>
  /** Lets this session become public in this run. */
  readonly approve: (source: string) => void
  /** Lets this session, of which nothing can be shown, be tried without becoming public. */
  readonly sendPrivately: (source: string) => void
}

type Options = {
  readonly decisionFor: DecisionFor
  /** Whether the user agrees to everything. */
  readonly yes: boolean
  /** Whether nothing is sent: then nothing becomes public either, and the run reports what would. */
  readonly dryRun: boolean
  /** The connection to the namespace where sessions go without a rule. */
  readonly connection: Connection
  /** Connects to another namespace. */
  readonly connect: (slug: string) => Promise<Connection>
  readonly statesOf: (connection: Connection) => Promise<SessionStates>
}

/** How long a namespace that was refused is not asked for again. */
const REFUSED_MS = 60_000

type Place = Pick<Destination, 'connection' | 'states'>

/** Connects to each namespace once, one after the other: each connection may store a token. */
const newPlaces = ({ connection, connect, statesOf }: Pick<Options, 'connection' | 'connect' | 'statesOf'>) => {
  const places = new Map<string, Promise<Place>>()
  let last: Promise<unknown> = Promise.resolve()
  const open = async (slug: string): Promise<Place> => {
    const opened = slug === connection.namespaceSlug ? connection : await connect(slug)
    return { connection: opened, states: await statesOf(opened) }
  }
  return (slug: string): Promise<Place> => {
    const known = places.get(slug)
    if (known) return known
    const place = last.then(() => open(slug))
    last = place.catch((error: unknown) => {
      // The next time the server may answer; after a while the user may have become a member of the namespace.
      const forget = () => void places.delete(slug)
      if (error instanceof UsageError) setTimeout(forget, REFUSED_MS).unref()
      else forget()
    })
    places.set(slug, place)
    return place
  }
}

/** The visibility that a destination gives to a trace: the command line's to all, that of a rule to new ones. */
const visibilityIn = ({ isAsked }: { readonly isAsked: boolean }, value: Visibility): Partial<Destination> => {
  if (isAsked) return { visibility: value }
  return value === 'private' ? {} : { visibilityOfNew: value }
}

type Answer = Destination | NotSent | { readonly agreement: Agreement }

const heldText = (agreement: Agreement): string =>
  agreement.to === 'public'
    ? `would be public because of ${agreement.because}, to which you have to agree`
    : untrustedText(agreement.rule, agreement.namespace)

/**
 * Where each session goes, by the rules of its project. Held are sessions that a rule of strangers would send to another
 * namespace, and those that would become public, until the user agrees.
 */
export const newDestinations = (options: Options): Destinations => {
  const { decisionFor, yes, dryRun } = options
  const placeOf = newPlaces(options)
  const [approved, unpublished] = [new Set<string>(), new Set<string>()]

  const place = async ({ namespace: { value, because } }: Extract<Decision, { is: 'sent' }>): Promise<Place> => {
    try {
      return await placeOf(value)
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`${because}: ${errorMessage(error)}`)
      throw error
    }
  }

  const answer = async (origin: Origin): Promise<Answer> => {
    const { source, agentId, sessionId } = origin
    const decision = await decisionFor(origin)
    if (decision.is === 'never') return { notSent: decision.why }
    const { untrusted, visibility } = decision
    if (untrusted) return { agreement: { to: 'namespace', namespace: decision.namespace.value, rule: untrusted } }
    const at = await place(decision)
    const destination = { ...at, ...visibilityIn(decision, visibility.value) }
    if (visibility.value !== 'public' || yes || dryRun || approved.has(source)) return destination
    // An existing trace keeps its visibility if only a rule says another one.
    const sent = sessionId === undefined ? at.states.read(source) : at.states.find({ agentId, sessionId })
    if (unpublished.has(source) || (!decision.isAsked && (sent?.status === 'stored' || sent?.status === 'moved')))
      return at
    return { agreement: { to: 'public', because: visibility.because, destination } }
  }
  return {
    placeIn: placeOf,
    destinationOf: async (origin): Promise<Destination | NotSent | Held> => {
      const given = await answer(origin)
      return 'agreement' in given ? { held: heldText(given.agreement) } : given
    },
    agreementFor: async (origin) => {
      const given = await answer(origin)
      return 'agreement' in given ? given.agreement : undefined
    },
    approve: (source) => void approved.add(source),
    sendPrivately: (source) => void unpublished.add(source),
  }
}
