import type { Client, Permit, Permits } from '../base/permits.ts'

/** One connection that is sent a value, or waits until there is room for it. */
export type Receiver = {
  readonly client: () => Client
  /** The value can be sent now. */
  readonly onRoom: () => void
  /** Others need the memory, and this client takes what it is sent too slowly. */
  readonly onYield: () => void
}

/**
 * The bytes of a value. They are in memory once, however many connections are sent them, and only as long as any is. Their permit is that of a
 * net which is sent them: the last ones that have not taken them hold it.
 */
export type SharedBytes = {
  /** The bytes; undefined while there is no room for them: `onRoom` is called later, and this is to be called again. */
  join(receiver: Receiver): Buffer | undefined
  /** A receiver has taken so many of them, or is given the next ones. */
  moved(receiver: Receiver, bytes: number): void
  /** A receiver waits for the service until the next `moved`: it is not slow meanwhile. */
  rest(receiver: Receiver): void
  /** A receiver has them all, or wants them no longer. */
  leave(receiver: Receiver): void
}

/** Values up to this length neither wait nor count: even those of all connections together take little memory. */
export const SMALL_BYTES = 64 * 1024

const smallBytes = (text: string): SharedBytes => {
  let bytes: Buffer | undefined
  return { join: () => (bytes ??= Buffer.from(text)), moved: () => {}, rest: () => {}, leave: () => {} }
}

export const newSharedBytes = (text: string, frames: Permits): SharedBytes => {
  if (text.length <= SMALL_BYTES) return smallBytes(text)
  const receivers = new Set<Receiver>()
  let bytes: Buffer | undefined
  let held: { readonly permit: Permit; readonly net: string } | undefined
  let asking: { readonly net: string; readonly over: AbortController } | undefined

  const clients = () => [...receivers].map(({ client }) => client())
  const ofNet = (net: string) => [...receivers].filter(({ client }) => client().net === net)

  const onYield = () => {
    const { net } = held!
    held = undefined
    for (const receiver of ofNet(net)) {
      receivers.delete(receiver)
      receiver.onYield()
    }
    settle()
  }

  /** Whoever is left holds the bytes; when nobody is, they go. */
  const settle = () => {
    const before = held
    if (receivers.size === 0) {
      held = undefined
      bytes = undefined
    } else if (bytes && (!held || ofNet(held.net).length === 0)) {
      const client = frames.first(clients())
      held = { permit: frames.hold(client, bytes.length, onYield), net: client.net }
    }
    if (before !== held) before?.permit.release()
  }

  const encode = (permit: Permit, net: string) => {
    held = { permit, net }
    permit.rest() // until it is given the first bytes
    bytes = Buffer.from(text)
    for (const { onRoom } of [...receivers]) onRoom()
  }

  const ask = () => {
    const client = frames.first(clients())
    if (asking?.net === client.net) return
    asking?.over.abort()
    const asked = { net: client.net, over: new AbortController() }
    asking = asked
    const granted = (permit: Permit) => {
      if (asking !== asked) return permit.release()
      asking = undefined
      encode(permit, client.net)
    }
    frames.acquire(client, Buffer.byteLength(text), onYield, asked.over.signal).then(granted, () => {})
  }

  return {
    join: (receiver) => {
      receivers.add(receiver)
      if (!bytes) ask()
      return bytes
    },
    moved: (receiver, count) => {
      if (receiver.client().net === held?.net) held.permit.moved(count)
    },
    rest: (receiver) => {
      if (receiver.client().net === held?.net) held.permit.rest()
    },
    leave: (receiver) => {
      if (!receivers.delete(receiver)) return
      if (receivers.size === 0) {
        asking?.over.abort()
        asking = undefined
      } else if (asking && ofNet(asking.net).length === 0) ask()
      settle()
    },
  }
}
