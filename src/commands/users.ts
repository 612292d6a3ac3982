import { io } from '../cli/io.ts'
import { requireAgreement } from '../cli/ask.ts'
import { escapeControls } from '../cli/escape.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import { tableLines } from '../cli/table.ts'
import { withLog } from './support/with-log.ts'
import { type Seat, type SignIn, type UserOfService, readUsers } from './support/service-lists.ts'
import { readPresentUsers, takeOut } from './support/take-out.ts'

type ListOptions = { readonly json?: boolean }

type RemoveOptions = ListOptions & { readonly yes?: boolean }

const MIN_PREFIX = 4

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

const accountOf = ({ login = '?', email }: SignIn): string => (email === undefined ? login : `${login} <${email}>`)

/** How a user signs in: accounts by name, and the number of devices. */
const signInsOf = ({ identities }: UserOfService): string => {
  const devices = identities.filter(({ type }) => type === 'device').length
  const words = [
    ...identities.filter(({ type }) => type === 'codehost').map(accountOf),
    ...(devices === 0 ? [] : [counted(devices, 'device')]),
  ]
  return words.length === 0 ? 'nothing' : words.join(', ')
}

const slugsOf = (seats: readonly Seat[]): string => seats.map(({ slug }) => slug).join(', ')

const toDocument = ({ id, displayName, ...rest }: UserOfService) => ({
  type: 'user',
  user: { id, ...(displayName === undefined ? {} : { displayName }) },
  ...rest,
})

export const list = ({ json = false }: ListOptions): Promise<number> =>
  withLog(async ({ url }) => {
    const users = await readUsers(url)
    if (json) for (const user of users) await printDocument(toDocument(user))
    else {
      const columns = [
        { head: 'name', cell: ({ displayName }: UserOfService) => displayName ?? '-', min: 8 },
        { head: 'signs in by', cell: signInsOf, min: 12 },
        { head: 'namespaces', cell: ({ namespaces }: UserOfService) => slugsOf(namespaces), min: 12 },
        {
          head: 'last used',
          cell: ({ lastUsedAt }: UserOfService) => (lastUsedAt === undefined ? '-' : shortTime(lastUsedAt)),
          drop: 1,
        },
        { head: 'traces', cell: ({ traces }: UserOfService) => `${traces}`, align: 'right' as const },
        { head: 'bytes', cell: ({ bytes }: UserOfService) => `${bytes}`, align: 'right' as const },
        { head: 'user', cell: ({ id }: UserOfService) => id },
      ]
      await printLines(tableLines(columns, users, io().stdout.columns))
    }
    return exitCodes.ok
  })

/** The user with a prefix of an id. @throws UsageError for none, and for several */
const userNamed = (users: readonly UserOfService[], name: string): UserOfService => {
  const found = name.length < MIN_PREFIX ? [] : users.filter(({ id }) => id.startsWith(name.toLowerCase()))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(`"${name}" matches ${found.length} users: give more characters of the id.`)
  throw new UsageError(`The service has no user "${name}". To list the users with their ids, run: tracebook users`)
}

const described = (user: UserOfService): string => {
  const name = user.displayName === undefined ? '' : `${escapeControls(user.displayName)}, `
  const place = user.namespaces.length === 0 ? 'in no namespace' : `in ${slugsOf(user.namespaces)}`
  return `${name}user ${user.id}, who signs in by ${escapeControls(signInsOf(user))}, ${escapeControls(place)}`
}

export const remove = ({ yes = false, json = false }: RemoveOptions, name: string): Promise<number> =>
  withLog(async (opened) => {
    const user = userNamed(await readPresentUsers(opened), name)
    await requireAgreement(
      `${described(user)}, will be removed from the service: all their sessions end, and this cannot be undone. ` +
        'Their traces stay.',
      yes,
    )
    const { identities, left, stays, isVisible } = await takeOut(opened, user)
    if (json) await printDocument({ type: 'removed', user: { id: user.id }, identities, left, stays })
    else
      await printLines([
        `Removed the user ${user.id} with ${counted(identities, 'way')} to sign in and ` +
          `${counted(left.length, 'membership')}.`,
      ])
    for (const { slug, others } of stays)
      if (others > 0) say(`The namespace "${slug}" has lost its last admin and has ${counted(others, 'other member')}.`)
    if (!isVisible) say('Lists will show it as soon as a projector runs.')
    return exitCodes.ok
  })
