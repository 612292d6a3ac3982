import { Metadata, type StatusObject, status } from '@grpc/grpc-js'

const METHODS = ['append', 'read', 'subscribe', 'batchAppend', 'features', 'gossip', 'scavenge'] as const
export type Method = (typeof METHODS)[number]

export type Failure = Partial<StatusObject>

/** How the answer of an append that was stored gets lost: the connection breaks, or nothing ever comes. */
export type Loss = 'reset' | 'silence'

export const failure = (code: status, details: string, trailers: Record<string, string> = {}): Failure => {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value)
  return { code, details, metadata }
}

export const unknown = (details: string) => failure(status.UNKNOWN, details)

export const notLeader = (host: string, port: number): Failure =>
  failure(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': `${port}`,
  })

export const tooSlow = failure(
  status.ABORTED,
  'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
)

/** What goes wrong, as the tests ask for it, and what has been called. */
export const newFaults = () => {
  const next = new Map<Method, Failure[]>()
  const stalled = new Set<Method>()
  const losses: Loss[] = []
  const counts = new Map<Method, number>()
  let leader: { host: string; port: number } | undefined
  let resumed: (() => void)[] = []

  return {
    /** How often a method was called. */
    count: (method: Method) => counts.get(method) ?? 0,
    failNext: (method: Method, error: Failure, times = 1) =>
      void next.set(method, [...(next.get(method) ?? []), ...Array.from({ length: times }, () => error)]),
    /** Calls of a method wait, until `resume`. */
    stall: (method: Method) => void stalled.add(method),
    /** All calls wait, until `resume`, as those to a process that was stopped. */
    freeze: () => {
      for (const method of METHODS) stalled.add(method)
    },
    resume: () => {
      stalled.clear()
      for (const resolve of resumed) resolve()
      resumed = []
    },
    /** The next appends are stored, and their answers lost. */
    forgetNext: (loss: Loss, times = 1) => void losses.push(...Array.from({ length: times }, () => loss)),
    forgetNothing: () => void losses.splice(0),
    /** Calls that need the leader are sent there; nothing when this is the leader again. */
    setLeader: (host?: string, port?: number) => void (leader = host ? { host, port: port! } : undefined),

    /** For the server: counts the call, lets it wait, and says how it fails. */
    enter: async (method: Method, metadata: Metadata): Promise<Failure | undefined> => {
      counts.set(method, (counts.get(method) ?? 0) + 1)
      while (stalled.has(method)) await new Promise<void>((resolve) => resumed.push(resolve))
      if (leader && metadata.get('requires-leader').length > 0) return notLeader(leader.host, leader.port)
      return next.get(method)?.shift()
    },
    loss: () => losses.shift(),
  }
}

export type Faults = ReturnType<typeof newFaults>
