import { hasStatus } from '../../sync/api/errors.ts'
import { type Requests, newRequests } from '../../sync/api/requests.ts'
import type { Connection } from '../../sync/login/connect.ts'
import { type Access, noticedTiming } from '../support/access.ts'

type Names = ReadonlyMap<string, string>

/** The login of this machine while it lasts: requests to its service, and what is known of its namespaces. */
export type Login = Pick<Requests, 'call' | 'exactly'> & {
  /** The namespace of the login, or that of --namespace. */
  readonly slug: string
  /** The name of a member of a namespace; the id if there is no name, and for callers who are not members themselves. */
  readonly nameOf: (slug: string, userId: string) => Promise<string>
}

/** More than a page of messages, which has 8 MiB or one large message. */
const MOST_BYTES = 64 << 20

const namesIn = async ({ call }: Requests, slug: string): Promise<Names> => {
  const { members } = await call('GET /v1/namespaces/{slug}/members', { path: { slug } }).catch((error: unknown) => {
    if (hasStatus(error, 403, 404)) return { members: [] }
    throw error
  })
  return new Map(members.map(({ user: { id, displayName = id } }) => [id, displayName]))
}

const newLogin = (requests: Requests, slug: string): Login => {
  const known = new Map<string, Names>()
  const nameOf = async (of: string, userId: string) => {
    const names = known.get(of) ?? (await namesIn(requests, of))
    known.set(of, names)
    return names.get(userId) ?? userId
  }
  return { ...requests, slug, nameOf }
}

/** Keeps a login open for a process that runs for long. */
export const keepLogin = (access: Access) => {
  let opened: Promise<Login> | undefined
  let ahead = 0 // of the clock of the service, in milliseconds

  const onAnswer = (headers: Headers) => {
    const time = Date.parse(headers.get('date') ?? '')
    if (!Number.isNaN(time)) ahead = time - Date.now()
  }
  const openAs = ({ token, namespaceSlug }: Connection): Login =>
    newLogin(
      newRequests(access.server, token, { timing: noticedTiming, maxBytes: MOST_BYTES, onAnswer }),
      namespaceSlug,
    )
  const forget = () => {
    opened = undefined
  }

  return {
    /** @throws UsageError, RequestFailed; the next call tries again then */
    login: (): Promise<Login> => {
      opened ??= access.connect().then(openAs)
      opened.catch(forget)
      return opened
    },
    /** The login has ended: the next call looks for another one. */
    forget,
    /** The time of the service. */
    now: () => Date.now() + ahead,
  }
}
