import type { App } from '../support/open-app.ts'
import { type Caller as Asker, type Person, type Suite, callerOf, openWorld, signIn } from '../support/world.ts'

/** Everybody who may stand before a namespace's door. */
export const callers = ['nobody', 'revoked', 'stranger', 'former', 'member', 'creator', 'admin'] as const
export type Caller = (typeof callers)[number]

export type Place = 'here' | 'elsewhere'

/** A namespace with an admin, a member who creates, another member, and one who has left. */
export type Team = {
  readonly slug: string
  readonly namespaceId: string
  /** A caller's user. */
  readonly userOf: (caller: Caller) => string
  /** A caller's token, with the team or their own namespace as the active one. */
  readonly tokenOf: (caller: Caller, place: Place) => string | undefined
  /** The two who may write traces of `creator`, with the team as their active namespace. */
  readonly creator: Person
  readonly admin: Person
  /** Asks as a caller, with the same token. */
  readonly as: (caller: Caller, place: Place) => Asker
}

/** Makes a team; who has left has created a trace `former-<visibility>` of each visibility before. */
export const newTeam = async (app: App, slug: string): Promise<Team> => {
  const names = ['stranger', 'former', 'member', 'creator', 'admin', 'revoked'] as const
  const own = new Map<Caller, Person>()
  for (const name of names) own.set(name, await signIn(app, `${slug}-${name}`))
  const admin = own.get('admin')!
  const { id: namespaceId } = await admin.newTeam(slug)
  const here = new Map<Caller, Person>()
  for (const name of ['former', 'member', 'creator', 'admin'] as const) {
    if (name !== 'admin') await admin.admit(slug, own.get(name)!)
    here.set(name, await signIn(app, `${slug}-${name}`, { namespaceId }))
  }
  const former = here.get('former')!
  for (const visibility of ['private', 'direct', 'public'])
    await former.newTrace({ visibility }, [], `former-${visibility}`)
  await admin.send('DELETE', `/v1/namespaces/${slug}/members/${former.userId}`)
  await own.get('revoked')!.send('DELETE', '/v1/session')
  const tokenOf: Team['tokenOf'] = (caller, place) =>
    (place === 'here' ? (here.get(caller) ?? own.get(caller)) : own.get(caller))?.token
  return {
    slug,
    namespaceId,
    userOf: (caller) => own.get(caller)?.userId ?? 'nobody',
    tokenOf,
    creator: here.get('creator')!,
    admin: here.get('admin')!,
    as: (caller, place) => callerOf(app, tokenOf(caller, place)),
  }
}

/** A service on a database of its own with a team, until the tests of a suite are over. */
export const openTeam = async (test: Suite, slug = 'the-team') => {
  const { node } = await openWorld(test)
  return { app: node, team: await newTeam(node, slug) }
}

/** What a caller is to the team's traces. */
export const standingOf = (caller: Caller): 'nobody' | 'stranger' | 'member' | 'creator' | 'admin' => {
  if (caller === 'nobody' || caller === 'revoked') return 'nobody'
  return caller === 'former' ? 'stranger' : caller
}
