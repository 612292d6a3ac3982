export type Asked = {
  readonly method: string
  readonly path: string
  /** The revision that a write expects. */
  readonly ifRevision?: number | undefined
  /** The slug of the namespace that a write names. */
  readonly namespace?: string | undefined
  readonly token?: string | undefined
  readonly text: string
}
export type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown }

export type StoredMessage = {
  readonly externalId: string
  readonly role: string
  readonly parts: readonly { readonly type: string; readonly content: Readonly<Record<string, unknown>> }[]
}
export type StoredTrace = {
  readonly namespaceId: string
  readonly externalId: string
  readonly createdBy: string
  fields: Record<string, string>
  readonly messages: Map<string, StoredMessage>
  /** How often it was changed; absent: never. */
  revision?: number
  /** The revision at which a message was last changed. */
  readonly changedAt?: Map<string, number>
}
export type TestSession = { readonly userId: string; readonly namespaceId: string }

/** All that the test service knows. `users`: user ids by device id; `names`: of users. */
export type World = {
  readonly traces: StoredTrace[]
  readonly namespaces: { readonly id: string; readonly slug: string; readonly roles: Map<string, 'admin' | 'member'> }[]
  readonly sessions: Map<string, TestSession>
  readonly users: Map<string, string>
  readonly names: Map<string, string>
  /** What names the log of the service, and its present epoch. */
  logId: string
  /** What names the log in all its epochs. */
  readonly log: string
  /** The writes that the log holds. */
  readonly positions: Set<string>
  /** The ids of deleted traces. */
  readonly deleted: Set<string>
  /** Whether a message is refused with 400, and with it its batch. */
  refuses: (message: StoredMessage) => boolean
}

const codes: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'changed',
  410: 'deleted',
}

export const ok = (data: unknown): Answer => ({ status: 200, body: { ok: true, data } })

export const refusal = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: { ok: false, error: { code: codes[status] ?? 'unavailable', message: `refused with ${status}` } },
})
