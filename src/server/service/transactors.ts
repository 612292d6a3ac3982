import type { ReadTables } from '../../tables/main.ts'
import { foldSource } from '../../eventstore/engine/fold.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { DomainEvent, StreamKind } from '../../eventstore/engine/stream.ts'
import { type Transactor, type TransactorOptions, newTransactor } from '../../eventstore/engine/transact.ts'
import { commits } from '../commit/decide.ts'
import { modelProviders } from '../models/decide.ts'
import { namespaces } from '../namespace/decide.ts'
import { sessions } from '../session/decide.ts'
import { traces } from '../trace/decide.ts'
import { trimTrace } from '../trace/state-size.ts'
import { traceSource } from '../trace/source.ts'
import { identities, users } from '../user/decide.ts'

const TRACES_BYTES = 16 * 1024 * 1024
const NAMESPACES_BYTES = 16 * 1024 * 1024

/** The options that all transactors share. */
type Common = Omit<TransactorOptions<unknown, DomainEvent, void>, 'kind' | 'source' | 'trim' | 'budget'>

type TransactorsOptions = Common & {
  readonly reads: Reads<ReadTables>
  /** Resolves when the read models have applied a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
}

/** Creates a transactor for each kind of stream. `budget` bounds the bytes of the states that it caches. */
export const newTransactors = ({ reads, caughtUp, ...common }: TransactorsOptions) => {
  const { log, codec } = common
  const folded = <State, Event extends DomainEvent>(kind: StreamKind<State, Event>, own: { budget?: number } = {}) =>
    newTransactor({ kind, source: foldSource(kind, log, codec), ...common, ...own })
  const forClients = {
    users: folded(users),
    identities: folded(identities),
    sessions: folded(sessions),
    namespaces: folded(namespaces, { budget: NAMESPACES_BYTES }),
    commits: folded(commits),
    traces: newTransactor({
      kind: traces,
      source: traceSource(reads, caughtUp),
      trim: trimTrace,
      budget: TRACES_BYTES,
      ...common,
    }),
  }
  const providers = folded(modelProviders, { budget: 0 }) // a refresh needs each state once
  const byCategory: Record<string, Pick<Transactor<unknown, DomainEvent>, 'observe' | 'clear'>> = {
    [users.category]: forClients.users,
    [identities.category]: forClients.identities,
    [sessions.category]: forClients.sessions,
    [namespaces.category]: forClients.namespaces,
    [traces.category]: forClients.traces,
    [commits.category]: forClients.commits,
    [modelProviders.category]: providers,
  }
  return {
    /** For the streams that clients write to. */
    forClients,
    /** For the streams of model providers, which the refresh of the catalogue writes to. */
    providers,
    observe: ({ stream, revision }: { readonly stream: string; readonly revision: bigint }) =>
      byCategory[stream.slice(0, stream.indexOf('-'))]?.observe(stream, revision),
    clear: () => {
      for (const transactor of Object.values(byCategory)) transactor.clear()
    },
  }
}

export type Transactors = ReturnType<typeof newTransactors>
