const LOCAL_NAMES: readonly [string, ...string[]] = ['127.0.0.1', 'localhost', '[::1]']

/** The name under which data about a server is stored. It is the same for all spellings of its address: this machine has several names. */
export const serverKey = (server: string): string => {
  const url = URL.parse(server)
  if (!url || !LOCAL_NAMES.includes(url.hostname)) return server
  return server.replace(`//${url.host}`, `//${url.host.replace(url.hostname, LOCAL_NAMES[0])}`)
}
