import { type Came, ask } from './asking.ts'
import { newLoop } from './loop.ts'
import type { Moments } from './moments.ts'
import { newPossible } from './possible.ts'
import type { Random } from './random.ts'
import type { Service } from './service.ts'
import { newSight } from './sight.ts'

export type Person = { readonly device: string; readonly token: string; readonly userId: string }
export type Team = { readonly slug: string; readonly admin: Person }

type Invited = { invite: { code: string } }

const must = (came: Came, words: string): Record<string, never> => {
  if (came.is === 'answered' && came.status === 200) return came.data as Record<string, never>
  throw new Error(`${words}: ${JSON.stringify(came)}`)
}

export const signIn = async (service: Service, device: string): Promise<Person> => {
  const came = await ask(service, 'POST', '/v1/session', { body: { deviceId: device } })
  const { token, userId } = must(came, 'sign-in').session as unknown as { token: string; userId: string }
  return { device, token, userId }
}

/** A namespace with its admin, and users who are admins too, so that each may write every trace in it. */
export const newTeam = async (service: Service, slug: string, members: readonly Person[]): Promise<Team> => {
  const admin = await signIn(service, `admin-${slug}`)
  const { token } = admin
  const send = async (who: string, method: string, path: string, body: object) =>
    must(await ask(service, method, path, { token: who, body }), path)
  await send(token, 'POST', '/v1/namespaces', { slug, displayName: slug })
  const { invite } = (await send(token, 'POST', `/v1/namespaces/${slug}/invites`, {
    role: 'admin',
    maxUses: 0,
  })) as unknown as Invited
  for (const member of [admin, ...members]) {
    await send(member.token, 'POST', `/v1/invites/${invite.code}/accept`, {})
    await send(member.token, 'POST', '/v1/session/switch', { slug })
  }
  return { slug, admin }
}

type Role = 'admin' | 'member' | null

type Place = { readonly service: () => Service; readonly moments: Moments }

/** A member whose role changes again and again, and who is removed and joins again. */
const newGuest = ({ service, moments }: Place, { slug, admin }: Team, guest: Person, random: Random) => {
  const possible = newPossible<Role>(null, `the role of a guest of ${slug}`, moments)
  const sight = newSight(moments)
  const path = `/v1/namespaces/${slug}`
  const asAdmin = (method: string, to: string, body?: object) =>
    ask(service(), method, to, { token: admin.token, body })

  const note = (came: Came, role: Role) => {
    sight.note(came)
    if (came.is === 'answered' && came.status === 404)
      return sight.isClear() && possible.seen((one) => one === null, 'no member')
    possible.came(came, () => role)
  }

  const look = async (at = service()) => {
    const came = await ask(at, 'GET', `${path}/members`, { token: admin.token })
    if (came.is !== 'answered') return
    const { members } = came.data as { members: { user: { id: string }; role: Role }[] }
    const role = members.find(({ user }) => user.id === guest.userId)?.role ?? null
    possible.seen((one) => one === role, `${role}`)
  }

  /** An invite that was lost with the data does not exist. */
  const invite = async () => {
    const losses = moments.losses()
    const role = random.pick(['admin', 'member'] as const)
    const made = await asAdmin('POST', `${path}/invites`, { role })
    if (made.is !== 'answered' || possible.all().some((one) => one !== null)) return
    const { code } = (made.data as Invited).invite
    const came = await ask(service(), 'POST', `/v1/invites/${code}/accept`, { token: guest.token, body: {} })
    if (moments.losses() === losses || came.is === 'maybe') note(came, role)
  }

  const act = async () => {
    const role = random.pick(['admin', 'member'] as const)
    const place = `${path}/members/${guest.userId}`
    if (possible.all().every((one) => one === null)) await invite()
    else if (random.chance(0.3)) note(await asAdmin('DELETE', place), null)
    else note(await asAdmin('PATCH', place, { role }), role)
    if (sight.isClear()) await look()
  }
  return { act, look }
}

/** A client that changes roles and members, and leaves and joins itself. */
export const newClerk = (place: Place, team: Team, guest: Person, random: Random) => {
  const { service, moments } = place
  const { act, look } = newGuest(place, team, guest, random)
  let arrivals = 0

  /** Asserts that the same device signs in as the same user, and that a new token works at once. */
  const arrive = async () => {
    const device = `visitor-${team.slug}-${arrivals++}`
    const losses = moments.losses()
    const first = await signIn(service(), device).catch(() => undefined)
    const second = await signIn(service(), device).catch(() => undefined)
    if (moments.losses() !== losses) return
    if (first && second && first.userId !== second.userId) throw new Error(`${device} is two users`)
    if (!second) return
    const came = await ask(service(), 'GET', '/v1/session', { token: second.token })
    if (came.is === 'answered' && came.status !== 200) throw new Error(`a session of ${device} is gone`)
  }

  const loop = newLoop(
    () => (random.chance(0.2) ? arrive() : act()),
    () => random.int(40),
  )
  return { loop, look }
}

export type Clerk = ReturnType<typeof newClerk>
