import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'

/** `pass`; `stall`: nothing gets through; `deaf`: answers are lost; `refuse`: connections end as soon as they are made. */
export type Mode = 'pass' | 'stall' | 'deaf' | 'refuse'

export type Proxy = {
  /** The same database, by way of the proxy. */
  readonly url: string
  /** Changes how it behaves, for the connections that there are as well. */
  set(mode: Mode): void
  /** Breaks all connections. */
  cut(): void
  /** Breaks those that are chosen by the name that they have on the server. */
  cutSome(choose: (name: string) => boolean): void
  /** The connections that there are stay open and carry nothing any more; new ones work. */
  forget(): void
  /** New connections get another database, whose name is as long; those that there are keep theirs. */
  redirect(databaseUrl: string): void
  close(): Promise<void>
}

const targetOf = (url: URL): Socket => {
  const folder = url.searchParams.get('host')
  const port = Number(url.port || 5432)
  return folder?.startsWith('/') ? connect(join(folder, `.s.PGSQL.${port}`)) : connect(port, folder ?? url.hostname)
}

/** A network of our own between a log and its server, that can be told to fail. */
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
  // What is sent into it stays in it: nobody is told that the other end has gone.
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
