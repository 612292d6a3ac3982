import type { Client, Permit, Permits } from '../../base/permits.ts'

/** A connection that a value is sent to, or that waits until there is memory for the value. */
export type Receiver = {
  readonly client: () => Client
  /** Called when the value can be sent. */
  readonly onRoom: () => void
  /** Called if others need the memory, and this client reads too slowly. */
  readonly onYield: () => void
}

/**
 * The bytes of a value, in memory once for all connections, and only as long as they are being sent. The network of one of the receivers holds the
 * permit for their memory. When its receivers have read the bytes, the network of a receiver that still reads takes the permit over.
 */
export type SharedBytes = {
  /** The bytes; undefined if there is no memory for them yet. Then `onRoom` is called later, and `join` has to be called again. */
  join(receiver: Receiver): Buffer | undefined
  /** A receiver has read this many more bytes, or gets the next ones. */
  moved(receiver: Receiver, bytes: number): void
  /** A receiver waits for the service until the next `moved`, so it does not count as slow. */
  rest(receiver: Receiver): void
  /** A receiver has read all bytes, or does not want them any more. */
  leave(receiver: Receiver): void
}

/** Values up to this length need no permit: even for all connections together they take little memory. */
const SMALL_BYTES = 64 * 1024

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

  /** Passes the permit to one of the remaining receivers. Without receivers drops the bytes. */
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
    permit.rest() // until a receiver gets the first bytes
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
