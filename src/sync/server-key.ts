const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** All spellings of a server's address: this machine has several names. The first one is the same for all of them. */
export const spellingsOf = (server: string): readonly [string, ...string[]] => {
  const url = URL.parse(server)
  if (!url || !LOCAL_NAMES.includes(url.hostname)) return [server]
  const [first = server, ...others] = LOCAL_NAMES.map((name) =>
    server.replace(`//${url.host}`, `//${url.host.replace(url.hostname, name)}`),
  )
  return [first, ...others]
}

/** The name under which data about a server is stored. It is the same for all spellings of its address. */
export const serverKey = (server: string): string => spellingsOf(server)[0]
