import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import type { NewSession } from '../../src/contract/sessions.ts'
import { freshDatabase } from '../support/database.ts'
import { type App, openApp } from '../support/open-app.ts'

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
}

const start = async ({ call }: App, deviceId: string, more: object = {}): Promise<NewSession> => {
  const { status, data } = await call('POST', '/v1/session', { body: { deviceId, ...more } })
  assert.is(status, 200)
  return (data as { session: NewSession }).session
}

const join = async ({ call }: App, slug: string, admin: NewSession, user: NewSession, role: string) => {
  const made = await call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body: { role } })
  const { code } = (made.data as { invite: InviteView }).invite
  assert.is((await call('POST', `/v1/invites/${code}/accept`, { token: user.token })).status, 200)
}

/** Makes a team; who has left has created a trace `former-<visibility>` of each visibility before. */
export const newTeam = async (app: App, slug: string): Promise<Team> => {
  const names = ['stranger', 'former', 'member', 'creator', 'admin', 'revoked'] as const
  const own = new Map<Caller, NewSession>()
  for (const name of names) own.set(name, await start(app, `${slug}-${name}`))
  const admin = own.get('admin')!
  const body = { slug, displayName: slug }
  const made = await app.call('POST', '/v1/namespaces', { token: admin.token, body })
  const { id: namespaceId } = (made.data as { namespace: { id: string } }).namespace
  const here = new Map<Caller, NewSession>()
  for (const name of ['former', 'member', 'creator', 'admin'] as const) {
    if (name !== 'admin') await join(app, slug, admin, own.get(name)!, 'member')
    here.set(name, await start(app, `${slug}-${name}`, { namespaceId }))
  }
  for (const visibility of ['private', 'direct', 'public']) {
    const url = `/v1/traces/former-${visibility}`
    assert.is((await app.call('PUT', url, { token: here.get('former')!.token, body: { visibility } })).status, 200)
  }
  const former = own.get('former')!.userId
  await app.call('DELETE', `/v1/namespaces/${slug}/members/${former}`, { token: admin.token })
  await app.call('DELETE', '/v1/session', { token: own.get('revoked')!.token })
  return {
    slug,
    namespaceId,
    userOf: (caller) => own.get(caller)?.userId ?? 'nobody',
    tokenOf: (caller, place) => (place === 'here' ? (here.get(caller) ?? own.get(caller)) : own.get(caller))?.token,
  }
}

/** A service on a database of its own with a team, until the tests of a suite are over. */
export const openTeam = async (test: { after(close: () => Promise<void>): void }, slug = 'the-team') => {
  const database = await freshDatabase()
  const app = await openApp(database.url)
  test.after(async () => {
    await app.close()
    await database.drop()
  })
  return { app, team: await newTeam(app, slug) }
}

/** What a caller is to the team's traces. */
export const standingOf = (caller: Caller): 'nobody' | 'stranger' | 'member' | 'creator' | 'admin' => {
  if (caller === 'nobody' || caller === 'revoked') return 'nobody'
  return caller === 'former' ? 'stranger' : caller
}
