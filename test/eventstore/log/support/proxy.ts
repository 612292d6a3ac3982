import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'

/** `pass`: all data pass; `stall`: none do; `deaf`: answers are lost; `refuse`: new connections end at once. */
export type Mode = 'pass' | 'stall' | 'deaf' | 'refuse'

export type Proxy = {
  /** The URL of the database through the proxy. */
  readonly url: string
  /** Changes the behaviour, also of open connections. */
  set(mode: Mode): void
  /** Breaks all connections. */
  cut(): void
  /** Breaks the connections whose name on the server is chosen. */
  cutSome(choose: (name: string) => boolean): void
  /** Open connections stay open, but pass no data any more; new ones work. */
  forget(): void
  /** New connections lead to another database, with a name of the same length; open ones keep theirs. */
  redirect(databaseUrl: string): void
  close(): Promise<void>
}

const targetOf = (url: URL): Socket => {
  const folder = url.searchParams.get('host')
  const port = Number(url.port || 5432)
  return folder?.startsWith('/') ? connect(join(folder, `.s.PGSQL.${port}`)) : connect(port, folder ?? url.hostname)
}

/** A network between a log and its server, which can fail on request. */
export const newProxy = async (databaseUrl: string): Promise<Proxy> => {
  const url = new URL(databaseUrl)
  const pairs = new Map<readonly [client: Socket, server: Socket], string>()
  const forgotten = new Set<Socket>()
  let mode: Mode = 'pass'
  let name = url.pathname.slice(1)

  const apply = ([client, server]: readonly [Socket, Socket]) => {
    if (mode === 'refuse') client.destroy()
    else if (mode === 'stall') for (const socket of [client, server]) socket.pause()
    else for (const socket of [client, server]) socket.resume()
  }

  const join = (client: Socket) => {
    const server = targetOf(url)
    const pair = [client, server] as const
    client.once('data', (bytes: Buffer) => {
      pairs.set(pair, /application_name\0([^\0]*)/.exec(bytes.toString('latin1'))?.[1] ?? '')
      server.write(bytes.toString('latin1').replace(url.pathname.slice(1), name), 'latin1')
      client.on('data', (more) => server.write(more))
    })
    server.on('data', (bytes) => mode !== 'deaf' && client.write(bytes))
    const end = () => {
      client.destroy()
      server.destroy()
      pairs.delete(pair)
      for (const socket of pair) forgotten.delete(socket)
    }
    for (const socket of pair) socket.on('close', end).on('error', end)
    pairs.set(pair, '')
    apply(pair)
  }

  const listener = createServer(join).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const cutSome = (choose: (name: string) => boolean) => {
    for (const [[client], name] of [...pairs]) if (choose(name)) client.destroy()
  }
  const cut = () => cutSome(() => true)
  // Data that are sent into it are dropped: neither side learns that the other has gone.
  const forget = () => {
    for (const pair of [...pairs.keys()]) {
      pairs.delete(pair)
      for (const socket of pair) {
        forgotten.add(socket)
        socket.pause().removeAllListeners('close')
      }
    }
  }
  const redirect = (databaseUrl: string) => {
    name = new URL(databaseUrl).pathname.slice(1)
  }
  const set = (next: Mode) => {
    mode = next
    for (const pair of [...pairs.keys()]) apply(pair)
  }
  const close = async () => {
    listener.close()
    cut()
    for (const socket of [...forgotten]) socket.destroy()
    await once(listener, 'close')
  }
  const { username, password, pathname } = url
  return {
    url: `postgresql://${username}:${password}@127.0.0.1:${port}${pathname}?sslmode=disable`,
    set,
    cut,
    cutSome,
    forget,
    redirect,
    close,
  }
}
